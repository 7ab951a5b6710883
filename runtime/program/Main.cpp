// SPDX-License-Identifier: Apache-2.0
// The program that an artifact is: opens the model appended to its own file and does what the command line asks.
#include "runtime/program/Options.h"
#include "runtime/program/Output.h"
#include "runtime/program/Report.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace talc::program {

static talc_sampling chooseSampling(const Options &options, const talc_model_info &info) {
  talc_sampling result = info.sampling;
  bool asked = options.topK || options.topP || options.minP;
  if (asked && result.temperature == 0)
    result.temperature = 1;
  result.temperature = options.temperature.value_or(result.temperature);
  result.top_k = options.topK.value_or(result.top_k);
  result.top_p = options.topP.value_or(result.top_p);
  result.min_p = options.minP.value_or(result.min_p);
  result.repetition_penalty = options.repeatPenalty.value_or(result.repetition_penalty);
  result.seed = options.seed;
  return result;
}

static Status printTokenized(const std::vector<Prompt> &prompts) {
  for (const Prompt &prompt : prompts)
    if (Status status = printOut(joinIds(prompt.ids) + "\n"); status.failed())
      return status;
  return {};
}

static Status printDetokenized(const talc_model *model, const std::vector<Prompt> &prompts) {
  for (const Prompt &prompt : prompts) {
    talc_error error;
    size_t size = 0;
    auto count = static_cast<int32_t>(prompt.ids.size());
    talc_status code = talc_detokenize(model, prompt.ids.data(), count, nullptr, 0, &size, &error);
    std::string text(size, '\0');
    if (code == TALC_OK)
      code = talc_detokenize(model, prompt.ids.data(), count, text.data(), size, &size, &error);
    if (code != TALC_OK)
      return Status::from(code, error);
    if (Status status = printOut(text + "\n"); status.failed())
      return status;
  }
  return {};
}

// Before any work: a prompt that can never fit.
static Status checkLengths(const std::vector<Prompt> &prompts, const talc_model_info &info) {
  for (size_t i = 0; i < prompts.size(); ++i)
    if (prompts[i].ids.size() > static_cast<size_t>(info.max_sequence))
      return Status::failure(TALC_ERROR_STATE_FULL,
                             "prompt %zu: has %zu tokens, but the model was compiled for at most %d; shorten it or "
                             "compile with a larger --max-seq",
                             i + 1, prompts[i].ids.size(), info.max_sequence);
  return {};
}

static Status startSequences(const talc_model *model, const talc_sampling &sampling, bool streams,
                             std::vector<Prompt> &prompts, std::vector<Sequence> &sequences) {
  sequences.resize(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i)
    if (Status status = sequences[i].start(model, sampling, std::move(prompts[i]), streams); status.failed())
      return status;
  return {};
}

static Status createLogits(const Options &options, const talc_model_info &info, const std::vector<Sequence> &sequences,
                           LogitsFile &file) {
  if (options.logitsFile.empty())
    return {};
  std::vector<size_t> lengths;
  for (const Sequence &sequence : sequences)
    lengths.push_back(sequence.prompt().ids.size());
  return file.create(options.logitsFile, lengths, info.vocabulary_size);
}

static Status createSession(const talc_model *model, const Options &options, size_t slots, SessionHandle &session) {
  talc_session_options sessionOptions = {options.threads, static_cast<int32_t>(slots)};
  talc_session *created = nullptr;
  talc_error error;
  talc_status code = talc_session_create(model, &sessionOptions, &created, &error);
  session.reset(created);
  return Status::from(code, error);
}

static Status generate(const talc_model *model, const Options &options, const talc_model_info &info,
                       std::vector<Prompt> &prompts, double loadSeconds) {
  bool text = !options.usesIds(), writesLogits = !options.logitsFile.empty();
  auto limit = static_cast<size_t>(options.tokens.value_or(writesLogits ? 0 : 128));
  std::vector<Sequence> sequences;
  SessionHandle session;
  LogitsFile logits;
  if (Status status = checkLengths(prompts, info); status.failed())
    return status;
  if (Status status = startSequences(model, chooseSampling(options, info), text, prompts, sequences); status.failed())
    return status;
  if (Status status = createSession(model, options, sequences.size(), session); status.failed())
    return status;
  if (Status status = createLogits(options, info, sequences, logits); status.failed())
    return status;
  bool prints = limit > 0 || !writesLogits;
  Printer printer(sequences,
                  !prints ? Printer::Form::Nothing
                  : text  ? Printer::Form::Text
                          : Printer::Form::Ids,
                  options.echo);
  Generation generation(session.get(), info, sequences, limit, options.ignoreEnd, printer,
                        writesLogits ? &logits : nullptr);
  if (Status status = printer.begin(); status.failed())
    return status;
  if (Status status = generation.run(); status.failed())
    return status;
  if (Status status = printer.finish(); status.failed())
    return status;
  if (writesLogits)
    if (Status status = logits.finish(); status.failed())
      return status;
  fputs(endingText(sequences, info).c_str(), stderr);
  if (!options.quiet)
    fputs(summaryText(info, session.get(), generation.timing(), loadSeconds).c_str(), stderr);
  return {};
}

static Status useModel(const Options &options) {
  double begin = secondsNow();
  bool reads = options.action == Action::Generate;
  talc_open_options openOptions = {options.skipCheck || !reads};
  talc_model *opened = nullptr;
  talc_error error;
  const char *path = options.model.empty() ? nullptr : options.model.c_str();
  if (talc_status code = talc_model_open(path, &openOptions, &opened, &error))
    return Status::from(code, error);
  ModelHandle model(opened);
  talc_model_info info;
  talc_model_get_info(opened, &info, nullptr);
  double loadSeconds = secondsNow() - begin;
  if (options.action == Action::Memory) {
    int32_t threads = options.threads ? std::min(options.threads, talc_max_threads()) : talc_default_threads();
    return printOut(memoryText(info, threads));
  }
  std::vector<Prompt> prompts;
  if (Status status = readPrompts(opened, options.prompts, prompts); status.failed())
    return status;
  if (options.action == Action::Tokenize)
    return printTokenized(prompts);
  if (options.action == Action::Detokenize)
    return printDetokenized(opened, prompts);
  return generate(opened, options, info, prompts, loadSeconds);
}

static Status execute(int count, char **arguments) {
  Options options;
  if (Status status = parseOptions(count, arguments, options); status.failed())
    return status;
  if (options.action == Action::Help)
    return printOut(helpText(arguments[0]));
  if (options.action == Action::Version)
    return printOut(std::string("talc runtime ") + talc_version() + "\n");
  return useModel(options);
}

}  // namespace talc::program

int main(int count, char **arguments) {
  // A closed pipe and a file size limit are errors like a full disk.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  talc::Status status = talc::program::execute(count, arguments);
  if (!status.failed())
    return 0;
  fprintf(stderr, "%s\n", status.text().c_str());
  return status.code() == TALC_ERROR_USAGE ? 2 : 1;
}
