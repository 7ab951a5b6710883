// SPDX-License-Identifier: Apache-2.0
// talc-interpret: runs a module of the talc dialect with the float64 interpreter.
#include "compiler/reference/Interpreter.h"
#include "dialects/talc/TalcDialect.h"
#include "test/numerics/TensorFile.h"
#include "test/numerics/TokenIds.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

#include <algorithm>

using namespace llvm;
using talc::numerics::FileTensor;
using talc::numerics::parseIntegers;
using talc::numerics::TensorFile;
using talc::reference::Interpreter;
using talc::reference::Matrix;

namespace {

struct Options {
  std::string module, logits;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<int32_t> split;  // tokens per step, the last number again and again; empty: all at once
  unsigned predict;
};

// One prompt being evaluated.
struct Prompt {
  std::vector<int32_t> ids;
  size_t done = 0;             // tokens evaluated
  std::vector<double> logits;  // of all tokens evaluated
  int64_t vocabulary = 0;

  int32_t likeliest() const {
    return std::max_element(logits.end() - vocabulary, logits.end()) - (logits.end() - vocabulary);
  }
};

Error fail(const Twine &message) {
  return createStringError(message);
}

// The next `count` tokens of every prompt that has some left, as one step.
Error runStep(Interpreter &interpreter, std::vector<Prompt> &prompts, size_t count) {
  std::vector<Interpreter::Sequence> batch;
  for (size_t i = 0; i < prompts.size(); ++i) {
    auto begin = prompts[i].ids.begin() + prompts[i].done;
    size_t tokens = std::min<size_t>(count, prompts[i].ids.end() - begin);
    if (tokens > 0)
      batch.push_back({static_cast<int>(i), {begin, begin + tokens}, true});
  }
  Expected<Matrix> logits = interpreter.step(batch);
  if (!logits)
    return logits.takeError();
  auto at = logits->values.begin();
  for (const Interpreter::Sequence &sequence : batch) {
    Prompt &prompt = prompts[sequence.slot];
    auto end = at + sequence.ids.size() * logits->columns;
    prompt.logits.insert(prompt.logits.end(), at, end);
    prompt.done += sequence.ids.size();
    prompt.vocabulary = logits->columns;
    at = end;
  }
  return Error::success();
}

Error runPrompts(Interpreter &interpreter, std::vector<Prompt> &prompts, const std::vector<int32_t> &split) {
  auto unfinished = [](const Prompt &prompt) { return prompt.done < prompt.ids.size(); };
  for (size_t step = 0; llvm::any_of(prompts, unfinished); ++step) {
    size_t count = split.empty() ? SIZE_MAX : split[std::min(step, split.size() - 1)];
    if (Error error = runStep(interpreter, prompts, count))
      return error;
  }
  return Error::success();
}

// Greedy continuation; prints the new ids.
Error generate(Interpreter &interpreter, std::vector<Prompt> &prompts, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    for (Prompt &prompt : prompts)
      prompt.ids.push_back(prompt.likeliest());
    if (i + 1 < count)
      if (Error error = runStep(interpreter, prompts, 1))
        return error;
  }
  for (const Prompt &prompt : prompts)
    outs() << fmt::format("{}\n", fmt::join(prompt.ids.end() - count, prompt.ids.end(), ","));
  return Error::success();
}

void printLogits(const std::vector<Prompt> &prompts) {
  for (size_t i = 0; i < prompts.size(); ++i) {
    outs() << "prompt " << i << "\n";
    for (auto row = prompts[i].logits.begin(); row != prompts[i].logits.end(); row += prompts[i].vocabulary)
      outs() << fmt::format("{:.6f}\n", fmt::join(row, row + prompts[i].vocabulary, " "));
  }
}

Error writeLogits(const std::vector<Prompt> &prompts, StringRef path) {
  TensorFile file;
  for (size_t i = 0; i < prompts.size(); ++i) {
    std::string name = prompts.size() == 1 ? "logits" : "logits." + std::to_string(i);
    int64_t rows = prompts[i].done;
    file[name] = FileTensor::floats({rows, prompts[i].vocabulary}, prompts[i].logits);
  }
  return talc::numerics::writeTensors(path, file);
}

Error run(const Options &options, mlir::ModuleOp module) {
  Expected<Interpreter> interpreter = Interpreter::create(module);
  if (!interpreter)
    return interpreter.takeError();
  std::vector<Prompt> prompts;
  for (const std::vector<int32_t> &ids : options.prompts)
    prompts.push_back({ids, 0, {}, 0});
  if (Error error = runPrompts(*interpreter, prompts, options.split))
    return error;
  if (!options.logits.empty())
    if (Error error = writeLogits(prompts, options.logits))
      return error;
  if (options.predict > 0)
    return generate(*interpreter, prompts, options.predict);
  if (options.logits.empty())
    printLogits(prompts);
  return Error::success();
}

Expected<Options> parseOptions(int argc, char **argv) {
  cl::opt<std::string> module(cl::Positional, cl::Required, cl::desc("MODULE.mlir"));
  cl::list<std::string> ids("ids", cl::OneOrMore, cl::desc("a prompt: comma separated token ids"));
  cl::opt<std::string> split("split",
                             cl::desc("tokens per step: 3,2,1 (the last number repeats); default: all at once"));
  cl::opt<unsigned> predict("n", cl::init(0), cl::desc("print this many greedy ids instead of logits"));
  cl::opt<std::string> logits("logits", cl::desc("write logits to this safetensors file instead of printing them"));
  cl::ParseCommandLineOptions(argc, argv, "talc's float64 interpreter\n");
  Options options{module, logits, {}, {}, predict};
  for (const std::string &text : ids) {
    auto prompt = parseIntegers(text);
    if (!prompt)
      return fail("--ids " + text + ": expected integers separated by commas");
    options.prompts.push_back(*prompt);
  }
  if (!split.empty()) {
    auto parts = parseIntegers(split);
    if (!parts || llvm::any_of(*parts, [](int32_t part) { return part <= 0; }))
      return fail("--split " + split + ": expected positive integers separated by commas");
    options.split = *parts;
  }
  return options;
}

int report(Error error) {
  errs() << toString(std::move(error)) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  Expected<Options> options = parseOptions(argc, argv);
  if (!options)
    return report(options.takeError());
  mlir::DialectRegistry registry;
  registry.insert<talc::TalcDialect, mlir::func::FuncDialect, mlir::DLTIDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(options->module, &context);
  if (!module)
    return 1;
  if (Error error = run(*options, *module))
    return report(std::move(error));
  return 0;
}
