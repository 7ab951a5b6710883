// SPDX-License-Identifier: Apache-2.0
// talc-interpret: runs a module of the talc dialect with the float64 interpreter.
//
//   talc-interpret MODULE --ids 3,1,4                               the rows of every token, as text
//   talc-interpret MODULE --ids 3,1,4 --ids 1,5 --logits FILE       two prompts in one batch, as safetensors
//   talc-interpret MODULE --ids 3,1,4 --split 1                     token by token
//   talc-interpret MODULE --ids 3,1,4 -n 5                          the five tokens that follow
//   talc-interpret MODULE --ids 2,7,3,8,3 --types 0,0,0,1,1         two texts
//   talc-interpret MODULE --ids 3,1,4 --prefix 2                    two tokens that see each other
//   talc-interpret MODULE --source-ids 5,6,7 --ids 0,8,9            an encoder-decoder: encodes the source first
//   talc-interpret MODULE --ids 3,1,4 --rows first,all --result 1   one of two results
//   talc-interpret MODULE --ids 3,1,4 --narrow-activations                  as tensor cores round activations
#include "compiler/reference/Interpreter.h"
#include "dialects/talc/LogitParts.h"
#include "runtime/artifact/GenerationSettings.h"
#include "test/numerics/Prompts.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/InitLLVM.h"

#include <algorithm>

using namespace llvm;
using talc::numerics::OutputSelection;
using talc::numerics::Part;
using talc::numerics::Prompt;
using talc::numerics::PromptOptions;
using talc::numerics::Rows;
using talc::reference::Interpreter;
using talc::reference::Matrix;

namespace {

struct Options : PromptOptions {
  cl::opt<std::string> module{cl::Positional, cl::Required, cl::desc("MODULE.mlir")};
  cl::opt<unsigned> predict{"n", cl::init(0), cl::desc("print this many greedy ids instead of rows")};
  cl::opt<bool> rounded{"narrow-activations", cl::desc("rows beside weights of 16 bits are rounded to their type")};
  cl::opt<int> result{"result", cl::init(-1), cl::desc("only this result, counted from 0; default: all")};
};

// A model, and the names of its results.
struct Model {
  Interpreter interpreter;
  std::vector<std::string> kinds;
  std::string classPlace;
  int64_t classToken = -1;

  // The token whose classes are those of the text.
  int32_t classRow(const std::vector<int32_t> &ids) const {
    const auto &places = talc::artifact::settings::classPlace.range.choices;
    if (classPlace.empty() || classPlace == places[0])
      return 0;
    bool isOf = classPlace == places[2];
    auto row = static_cast<int32_t>(ids.size()) - 1;
    while (row >= 0 && (ids[row] == classToken) != isOf)
      --row;
    return row >= 0 ? row : isOf ? static_cast<int32_t>(ids.size()) - 1 : 0;
  }
};

Expected<Model> makeModel(mlir::ModuleOp module, bool rounded) {
  using talc::reference::ActivationPrecision;
  Expected<Interpreter> interpreter =
      Interpreter::create(module, rounded ? ActivationPrecision::asWeights : ActivationPrecision::full);
  if (!interpreter)
    return interpreter.takeError();
  Model model{std::move(*interpreter), {}};
  namespace settings = talc::artifact::settings;
  auto generation = module->getAttrOfType<mlir::DictionaryAttr>(talc::generationAttr);
  if (auto place = generation ? generation.getAs<mlir::StringAttr>(settings::classPlace.name) : mlir::StringAttr()) {
    model.classPlace = place.str();
    model.classToken = generation.getAs<mlir::IntegerAttr>(settings::classToken.name).getInt();
  }
  auto kinds = module->getAttrOfType<mlir::ArrayAttr>(talc::outputsAttr);
  for (size_t i = 0; i < model.interpreter.results(); ++i) {
    auto kind = kinds && i < kinds.size() ? mlir::dyn_cast<mlir::StringAttr>(kinds[i]) : mlir::StringAttr();
    std::string name = kind ? kind.str() : talc::logitsOutput.str();
    if (talc::isLogitPart(kind))
      model.kinds.push_back("");  // what programs do not write
    else
      model.kinds.push_back(is_contained(model.kinds, name) ? name + std::to_string(i) : name);
  }
  return model;
}

// The next tokens of some prompts, as one step.
Error runStep(Model &model, PromptOptions &options, ArrayRef<Part> parts) {
  std::vector<Interpreter::Sequence> batch;
  for (Part part : parts) {
    const Prompt &prompt = options.prompts[part.prompt];
    auto slice = [&](const std::vector<int32_t> &all) {
      return all.empty() ? all
                         : std::vector<int32_t>(all.begin() + prompt.done, all.begin() + prompt.done + part.count);
    };
    Interpreter::Sequence sequence{static_cast<int>(part.prompt), slice(prompt.ids), slice(prompt.types), 0, {}, {}};
    sequence.prefix = prompt.done == 0 ? prompt.prefix : 0;
    for (size_t i = 0; i < model.kinds.size(); ++i) {
      OutputSelection selection = options.outputSelection(model.kinds[i], i);
      auto outputTokens = prompt.outputTokens(selection, part.count);
      if (model.kinds[i] == "classes" && selection == OutputSelection::first)
        outputTokens = {model.classRow(prompt.ids)};
      sequence.outputTokens.emplace_back(outputTokens.begin(), outputTokens.end());
    }
    batch.push_back(std::move(sequence));
  }
  Expected<std::vector<Matrix>> results = model.interpreter.step(batch);
  if (!results)
    return results.takeError();
  for (auto [i, result] : enumerate(*results)) {
    const double *at = result.values.data();
    for (auto [part, sequence] : zip(parts, batch)) {
      size_t count = sequence.outputTokens[i].size() * result.columns;
      options.prompts[part.prompt].addRows<double>(i, result.columns, {at, count});
      at += count;
    }
  }
  for (Part part : parts)
    options.prompts[part.prompt].done += part.count;
  return Error::success();
}

Error encodeSources(Interpreter &interpreter, ArrayRef<Prompt> prompts) {
  std::vector<Interpreter::Sequence> sources;
  for (auto [i, prompt] : enumerate(prompts))
    if (!prompt.source.empty())
      sources.push_back({static_cast<int>(i), prompt.source, {}, 0, {}, {}});
  return sources.empty() ? Error::success() : interpreter.encode(sources);
}

int32_t likeliest(const Rows &logits) {
  auto row = logits.values.end() - logits.width;
  return static_cast<int32_t>(std::max_element(row, logits.values.end()) - row);
}

// Greedy continuation; prints the new ids.
Error generate(Model &model, Options &options) {
  unsigned count = options.predict;
  for (unsigned i = 0; i < count; ++i) {
    for (Prompt &prompt : options.prompts) {
      prompt.ids.push_back(likeliest(prompt.results[0]));
      if (!prompt.types.empty())
        prompt.types.push_back(0);
    }
    std::vector<Part> parts;
    for (size_t p = 0; p < options.prompts.size(); ++p)
      parts.push_back({p, 1});
    if (i + 1 < count)
      if (Error error = runStep(model, options, parts))
        return error;
  }
  for (const Prompt &prompt : options.prompts)
    outs() << fmt::format("{}\n", fmt::join(prompt.ids.end() - count, prompt.ids.end(), ","));
  return Error::success();
}

void print(const Model &model, ArrayRef<Prompt> prompts) {
  bool one = count_if(model.kinds, [](const std::string &kind) { return !kind.empty(); }) == 1;
  for (auto [i, prompt] : enumerate(prompts)) {
    for (auto [kind, rows] : zip(model.kinds, prompt.results)) {
      if (kind.empty())
        continue;
      outs() << "prompt " << i << (one ? "" : " " + kind) << "\n";
      for (auto row = rows.values.begin(); row != rows.values.end(); row += rows.width)
        outs() << fmt::format("{:.6f}\n", fmt::join(row, row + rows.width, " "));
    }
  }
}

Error checkOptions(const Model &model, const Options &options) {
  auto results = static_cast<int>(model.kinds.size());
  if (options.result < -1 || options.result >= results)
    return createStringError("--result %d: the model has %d", options.result.getValue(), results);
  if (options.predict > 0 && options.outputSelection(model.kinds[0], 0) == OutputSelection::first)
    return createStringError("-n needs the last row of the first result");
  return Error::success();
}

Error run(Options &options, mlir::ModuleOp module) {
  Expected<Model> model = makeModel(module, options.rounded);
  if (!model)
    return model.takeError();
  if (Error error = checkOptions(*model, options))
    return error;
  if (Error error = encodeSources(model->interpreter, options.prompts))
    return error;
  if (Error error = talc::numerics::runSteps(options.prompts, options.split,
                                             [&](ArrayRef<Part> parts) { return runStep(*model, options, parts); }))
    return error;
  for (auto [i, kind] : enumerate(model->kinds))
    if (options.result >= 0 && options.result != static_cast<int>(i))
      kind.clear();
  if (Error error = options.write(model->kinds))
    return error;
  if (options.predict > 0)
    return generate(*model, options);
  if (options.logits.empty())
    print(*model, options.prompts);
  return Error::success();
}

}  // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  Options options;
  cl::ParseCommandLineOptions(argc, argv, "talc's float64 interpreter\n");
  if (Error error = options.parse())
    return talc::numerics::finish(std::move(error));
  mlir::DialectRegistry registry;
  registry.insert<talc::TalcDialect, mlir::func::FuncDialect, mlir::DLTIDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(options.module, &context);
  return module ? talc::numerics::finish(run(options, *module)) : 1;
}
