// SPDX-License-Identifier: Apache-2.0
// Reads the inputs, makes a session of the right size, runs, and reports.
#include "runtime/program/Evaluation.h"

#include "runtime/program/Encoding.h"
#include "runtime/program/Generation.h"
#include "runtime/program/Report.h"
#include "runtime/program/Signals.h"

#include <algorithm>
#include <cstdio>

namespace talc::program {

namespace {

// Of a generating model: what the options and the model's defaults make together.
struct Plan {
  talc_sampling sampling;
  talc_search search;
  talc_request settings;  // points to both
};

}  // namespace

// The model's settings, with those of the command line in their places.
static talc_model_info chooseSettings(const Options &options, const talc_model_info &info) {
  talc_model_info result = info;
  if (filtersTokens(options.settings) && result.sampling.temperature == 0)
    result.sampling.temperature = 1;
  takeSettings(options.settings, result);
  result.sampling.seed = options.seed;
  if (options.settings.minNewTokens)
    result.search.min_length = 0;
  if (options.ignoreEnd)  // an end token is like any other
    result.search.min_new_tokens = result.search.min_length = 0;
  return result;
}

// Beams are searched unless something asks for sampling or for what beams cannot do.
static void makePlan(const Options &options, const talc_model_info &info, Printer::Form form, Plan &plan) {
  bool writes = options.writesTensors();
  const std::optional<int32_t> &tokens = options.settings.newTokens;
  talc_model_info chosen = chooseSettings(options, info);
  plan.sampling = chosen.sampling;
  plan.search = chosen.search;
  plan.settings = {};
  plan.settings.struct_size = sizeof(talc_request);
  plan.settings.sampling = &plan.sampling;
  plan.settings.search = &plan.search;
  plan.settings.ignore_end = options.ignoreEnd;
  bool generates = tokens ? *tokens > 0 : !writes;
  plan.settings.new_tokens = generates ? tokens.value_or(0) : TALC_NONE;
  if (options.prefix)
    plan.settings.prefix = *options.prefix > 0 ? *options.prefix : TALC_NONE;
  plan.settings.text_form = options.usesIds()               ? TALC_TEXT_NONE
                            : form == Printer::Form::Stream ? TALC_TEXT_STREAMED
                                                            : TALC_TEXT_AT_END;
  bool samples = plan.sampling.temperature > 0;
  if (!generates || writes || options.ignoreEnd || (samples && !options.settings.beams))
    plan.search.beams = 1;
}

static Status tooLong(const std::string &what, size_t tokens, const talc_model_info &info) {
  return Status::failure(TALC_ERROR_STATE_FULL,
                         "%s: has %zu tokens, but the model was compiled for at most %d; shorten it or compile with a "
                         "larger --max-seq",
                         what.c_str(), tokens, info.max_sequence);
}

// A limit that counts the beginning must leave something to generate, as in Hugging Face's generate().
static Status checkBeginnings(const Job &job, const Plan &plan) {
  auto limit = static_cast<size_t>(job.info.max_length);
  bool limitsAll = plan.settings.new_tokens == 0 && limit > 0 && job.info.kind != TALC_MODEL_ENCODER;
  for (size_t i = 0; i < job.inputs.size() && limitsAll; ++i)
    if (size_t size = job.beginning(job.inputs[i]).size(); size >= limit)
      return Status::failure(TALC_ERROR_USAGE,
                             "%s: its text begins with %zu tokens, but by default the model's texts have at most %zu "
                             "in all (max_length); give -n N",
                             job.placeOf(i).c_str(), size, limit);
  return {};
}

static Status checkIds(const std::string &what, const std::vector<int32_t> &ids, int32_t vocabulary,
                       const talc_model_info &info) {
  if (ids.size() > static_cast<size_t>(info.max_sequence))
    return tooLong(what, ids.size(), info);
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocabulary)
      return Status::failure(TALC_ERROR_TOKEN, "%s: token %zu is %d, outside the vocabulary 0 to %d", what.c_str(), i,
                             ids[i], vocabulary - 1);
  return {};
}

// A line that is too long for the model has no tokens, and so an empty result, after a message. The number of such
// lines.
static size_t dropLongLines(const talc_model_info &info, const std::string &file, std::vector<Prompt> &lines) {
  size_t dropped = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string place = shownName(file) + ": line " + std::to_string(i + 1);
    Status status = lines[i].ids.size() > static_cast<size_t>(info.max_sequence)
                        ? tooLong(place, lines[i].ids.size(), info)
                        : Status();
    if (!status.failed())
      continue;
    fprintf(stderr, "%s\n", status.text().c_str());
    lines[i].ids.clear();
    ++dropped;
  }
  return dropped;
}

// Before any work: an input that can never be evaluated.
static Status checkInputs(const Job &job, const Plan &plan) {
  int32_t own = job.info.vocabulary_size, source = job.translates() ? job.info.source_vocabulary_size : own;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    std::string what = job.placeOf(i);
    if (Status status = checkIds(what, job.inputs[i].ids, source, job.info); status.failed())
      return status;
    if (Status status = checkIds(what + ": --decoder-ids", job.inputs[i].decoderIds, own, job.info); status.failed())
      return status;
  }
  if (job.translates() && job.info.search.start_token < 0)
    for (size_t i = 0; i < job.inputs.size(); ++i)
      if (job.inputs[i].decoderIds.empty())
        return Status::failure(TALC_ERROR_USAGE,
                               "%s: does not say which token begins a text; give --decoder-ids IDS after each prompt",
                               job.info.name);
  return checkBeginnings(job, plan);
}

static Printer::Form chooseForm(const Options &options, const talc_model_info &info,
                                const std::vector<Prompt> &inputs) {
  bool generates = info.kind != TALC_MODEL_ENCODER, one = inputs.size() == 1;
  if (options.writesTensors() && options.settings.newTokens.value_or(0) == 0)
    return Printer::Form::Nothing;
  if (!options.inputFile.empty())
    return Printer::Form::Lines;
  if (!generates)
    return one || !answersInLines(info, options, inputs) ? Printer::Form::Plain : Printer::Form::Headed;
  if (options.usesIds() || (info.kind == TALC_MODEL_ENCODER_DECODER && !one))
    return Printer::Form::Plain;
  return one ? Printer::Form::Stream : Printer::Form::Headed;
}

static Status createSession(const Job &job, size_t slots, SessionHandle &session) {
  talc_session_options sessionOptions = {sizeof(talc_session_options), job.options.threads,
                                         static_cast<int32_t>(slots)};
  talc_session *created = nullptr;
  talc_error error;
  talc_status code = talc_session_create(job.model, &sessionOptions, &created, &error);
  session.reset(created);
  return Status::from(code, error);
}

// `path` empty: no file. Creates a tensor for each input, whose rows are those of its tokens.
static Status createTensors(const Job &job, const std::string &path, bool hidden, TensorFile &file) {
  if (path.empty())
    return {};
  size_t width = job.info.vocabulary_size;
  bool oneRow = false;
  for (int32_t i = 0; i < job.info.result_count; ++i)
    if ((job.info.results[i].kind == TALC_RESULT_HIDDEN) == hidden) {
      width = job.info.results[i].width;
      oneRow = job.info.results[i].kind == TALC_RESULT_CLASSES;
    }
  std::vector<size_t> rows;
  for (const Prompt &prompt : job.inputs)
    rows.push_back(oneRow ? 1 : job.info.kind == TALC_MODEL_ENCODER ? prompt.ids.size() : job.beginning(prompt).size());
  return file.create(path, hidden ? "hidden" : "logits", rows, width);
}

static size_t countPlaces(const Job &job) {
  size_t most = job.fromFile ? job.options.batch : job.inputs.size();
  return std::max<size_t>(1, std::min(most, job.inputs.size()));
}

static Status runModel(const Job &job, const Plan &plan, SessionHandle &session) {
  size_t places = countPlaces(job);
  TensorFile logits, hidden;
  bool generates = job.info.kind != TALC_MODEL_ENCODER;
  bool writesLogits = !job.options.logitsFile.empty(), writesHidden = !job.options.hiddenFile.empty();
  if (Status status = createSession(job, places * (generates ? plan.search.beams : 1), session); status.failed())
    return status;
  if (Status status = createTensors(job, job.options.logitsFile, false, logits); status.failed())
    return status;
  if (Status status = createTensors(job, job.options.hiddenFile, true, hidden); status.failed())
    return status;
  Status status;
  if (generates)
    status = Generation(job, session.get(), plan.settings, places, writesLogits ? &logits : nullptr).run();
  else
    status =
        Encoding(job, session.get(), places, writesLogits ? &logits : nullptr, writesHidden ? &hidden : nullptr).run();
  if (interrupted())  // tensors have the rows of all texts
    return status;
  if (!status.failed() && writesLogits)
    status = logits.finish();
  if (!status.failed() && writesHidden)
    status = hidden.finish();
  return status;
}

// An input without tokens has an empty result.
static Status finishEmpty(const Job &job) {
  for (size_t i = 0; i < job.inputs.size(); ++i)
    if (job.inputs[i].ids.empty())
      if (Status status = job.printer.finish(i); status.failed())
        return status;
  return {};
}

Status evaluateInputs(const talc_model *model, const talc_model_info &info, const Options &options,
                      double loadSeconds) {
  bool fromFile = !options.inputFile.empty();
  std::vector<Prompt> inputs;
  Status status = fromFile ? readLines(model, options.inputFile, inputs) : readPrompts(model, options.prompts, inputs);
  if (status.failed())
    return status;
  size_t dropped = fromFile ? dropLongLines(info, options.inputFile, inputs) : 0;
  Output output;
  Timing timing;
  std::vector<CutText> cut;
  SessionHandle session;
  const char *itemName = info.kind == TALC_MODEL_ENCODER ? "text" : "prompt";
  Printer::Form form = chooseForm(options, info, inputs);
  Printer printer(output, form, itemName, inputs.size(), fromFile && !options.quiet);
  Job job = {model, info, options, inputs, fromFile, printer, timing, cut};
  double begin = secondsNow();
  Plan plan;
  makePlan(options, info, form, plan);
  if (status = checkInputs(job, plan); status.failed())
    return status;
  if (status = output.open(options.outputFile); status.failed())
    return status;
  if (status = finishEmpty(job); status.failed())
    return status;
  if (fromFile)
    finishOnInterrupt();
  if (status = runModel(job, plan, session); status.failed())
    return status;
  if (status = printer.finishAll(); status.failed())
    return status;
  if (interrupted())
    endByInterrupt();
  fputs(endingText(job).c_str(), stderr);
  if (!options.quiet)
    fputs(summaryText(job, session.get(), loadSeconds, secondsNow() - begin).c_str(), stderr);
  if (dropped > 0)
    return Status::failure(TALC_ERROR_STATE_FULL, "%s: %zu of %zu lines are too long and have empty results",
                           shownName(options.inputFile).c_str(), dropped, inputs.size());
  return {};
}

}  // namespace talc::program
