// SPDX-License-Identifier: Apache-2.0
// talc-steps: runs an artifact through talc.h, its prompts divided among steps as asked, and writes all logits.
#include "runtime/talc.h"
#include "test/numerics/TensorFile.h"
#include "test/numerics/TokenIds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using talc::numerics::FileTensor;
using talc::numerics::parseIntegers;
using talc::numerics::TensorFile;

namespace {

using Ids = std::vector<int32_t>;

struct Prompt {
  Ids ids;
  size_t done = 0;             // tokens evaluated
  std::vector<double> logits;  // of all tokens evaluated
};

Error check(talc_status status, const talc_error &error) {
  return status == TALC_OK ? Error::success() : createStringError(error.text);
}

// The next `count` tokens of every prompt that has some left, as one step.
Error runStep(talc_session *session, std::vector<Prompt> &prompts, size_t count, int32_t vocabulary) {
  std::vector<talc_sequence> batch;
  for (size_t i = 0; i < prompts.size(); ++i) {
    size_t tokens = std::min(count, prompts[i].ids.size() - prompts[i].done);
    if (tokens > 0)
      batch.push_back({static_cast<int32_t>(i), static_cast<int32_t>(tokens), prompts[i].ids.data() + prompts[i].done,
                       TALC_LOGITS_ALL});
  }
  talc_error error;
  talc_status status = talc_evaluate(session, batch.data(), static_cast<int32_t>(batch.size()), &error);
  if (status != TALC_OK)
    return check(status, error);
  for (size_t i = 0; i < batch.size(); ++i) {
    Prompt &prompt = prompts[batch[i].slot];
    int32_t rows;
    const float *logits = talc_logits(session, static_cast<int32_t>(i), &rows);
    prompt.logits.insert(prompt.logits.end(), logits, logits + static_cast<size_t>(rows) * vocabulary);
    prompt.done += batch[i].count;
  }
  return Error::success();
}

// `split`: tokens per step, the last number again and again; empty: all at once.
Error runPrompts(talc_model *model, std::vector<Prompt> &prompts, const Ids &split, int threads, int32_t vocabulary) {
  talc_error error;
  talc_session *session;
  talc_session_options options = {threads, static_cast<int32_t>(prompts.size())};
  if (talc_status status = talc_session_create(model, &options, &session, &error); status != TALC_OK)
    return check(status, error);
  auto unfinished = [](const Prompt &prompt) { return prompt.done < prompt.ids.size(); };
  Error result = Error::success();
  for (size_t step = 0; !result && any_of(prompts, unfinished); ++step)
    result = runStep(session, prompts, split.empty() ? SIZE_MAX : split[std::min(step, split.size() - 1)], vocabulary);
  talc_session_destroy(session);
  return result;
}

Error run(const std::string &path, std::vector<Prompt> &prompts, const Ids &split, int threads,
          const std::string &output) {
  talc_error error;
  talc_model *model;
  if (talc_status status = talc_model_open(path.c_str(), nullptr, &model, &error); status != TALC_OK)
    return check(status, error);
  talc_model_info info;
  talc_status status = talc_model_get_info(model, &info, &error);
  Error result =
      status == TALC_OK ? runPrompts(model, prompts, split, threads, info.vocabulary_size) : check(status, error);
  talc_model_close(model);
  if (result)
    return result;
  TensorFile file;
  for (size_t i = 0; i < prompts.size(); ++i) {
    std::string name = prompts.size() == 1 ? "logits" : "logits." + std::to_string(i);
    file[name] = FileTensor::floats({static_cast<int64_t>(prompts[i].done), info.vocabulary_size}, prompts[i].logits);
  }
  return talc::numerics::writeTensors(output, file);
}

int report(Error error) {
  errs() << toString(std::move(error)) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::opt<std::string> path(cl::Positional, cl::Required, cl::desc("ARTIFACT"));
  cl::list<std::string> ids("ids", cl::OneOrMore, cl::desc("a prompt: comma separated token ids"));
  cl::opt<std::string> splitText("split", cl::desc("tokens per step: 3,2,1 (the last number repeats)"));
  cl::opt<int> threads("t", cl::init(1), cl::desc("threads"));
  cl::opt<std::string> output("logits", cl::Required, cl::desc("the safetensors file to write"));
  cl::ParseCommandLineOptions(argc, argv, "runs an artifact step by step\n");
  std::vector<Prompt> prompts;
  for (const std::string &text : ids) {
    std::optional<Ids> prompt = parseIntegers(text);
    if (!prompt)
      return report(createStringError("--ids " + text + ": expected integers separated by commas"));
    prompts.push_back({*prompt, 0, {}});
  }
  std::optional<Ids> split = splitText.empty() ? Ids() : parseIntegers(splitText);
  if (!split || any_of(*split, [](int32_t part) { return part <= 0; }))
    return report(createStringError("--split " + splitText + ": expected positive integers separated by commas"));
  if (Error error = run(path, prompts, *split, threads, output))
    return report(std::move(error));
  return 0;
}
