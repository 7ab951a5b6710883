// SPDX-License-Identifier: Apache-2.0
// Reads the inputs, makes a session of the right size, runs, and reports.
#include "runtime/program/Job.h"

#include "runtime/LengthAdvice.h"
#include "runtime/program/Signals.h"
#include "runtime/program/TextEncoding.h"
#include "runtime/program/TextGeneration.h"
#include "runtime/program/input/Inputs.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace talc::program {

namespace {

// The settings of a generating model: those of the options, and the model's defaults.
struct Plan {
  talc_sampling sampling;
  talc_search search;
  std::vector<const char *> stops;
  talc_request settings;  // points to them
};

}  // namespace

// Returns the model's settings, overridden by those of the command line.
static talc_model_info chooseSettings(const Options &options, const talc_model_info &info) {
  talc_model_info result = info;
  if (filtersTokens(options.settings) && result.sampling.temperature == 0)
    result.sampling.temperature = 1;
  takeSettings(options.settings, result);
  result.sampling.seed = options.seed.value_or(0);
  if (options.settings.minNewTokens)
    result.search.min_length = TALC_NONE;
  if (options.ignoreEnd)  // an end token is like any other token
    result.search.min_new_tokens = result.search.min_length = TALC_NONE;
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
  for (const std::string &stop : options.stops)
    plan.stops.push_back(stop.c_str());
  plan.settings.stops = plan.stops.data();
  plan.settings.stop_count = static_cast<int32_t>(plan.stops.size());
  plan.settings.target_language = options.targetLanguage ? options.targetLanguage->c_str() : nullptr;
  bool generates = tokens ? *tokens > 0 : !writes;
  plan.settings.new_tokens = generates ? tokens.value_or(0) : TALC_NONE;
  if (options.prefix)
    plan.settings.prefix = *options.prefix > 0 ? *options.prefix : TALC_NONE;
  plan.settings.text_form = options.usesIds()               ? TALC_TEXT_NONE
                            : form == Printer::Form::Stream ? TALC_TEXT_STREAMED
                                                            : TALC_TEXT_AT_END;
  bool samples = plan.sampling.temperature > 0;
  if (!generates || writes || options.ignoreEnd || !options.stops.empty() || (samples && !options.settings.beams))
    plan.search.beams = 1;
}

// A limit that counts the beginning must leave something to generate, as in Hugging Face's generate().
static Status checkBeginning(const Plan &plan, const talc_model_info &info, size_t tokens, const std::string &what) {
  auto limit = static_cast<size_t>(info.max_length);
  bool limitsAll = plan.settings.new_tokens == 0 && limit > 0 && info.kind != TALC_MODEL_ENCODER;
  if (!limitsAll || tokens < limit)
    return {};
  return Status::failure(TALC_ERROR_USAGE,
                         "%s: its text begins with %zu tokens, but by default the model's texts have at most %zu in "
                         "all (max_length); give -n N",
                         what.c_str(), tokens, limit);
}

static Status checkIds(const std::string &what, const std::vector<int32_t> &ids, int32_t vocabulary,
                       const talc_model_info &info) {
  if (ids.size() > static_cast<size_t>(info.max_sequence))
    return Status::failure(TALC_ERROR_STATE_FULL, "%s: has %zu tokens, but the model was compiled for at most %d; %s",
                           what.c_str(), ids.size(), info.max_sequence,
                           lengthAdvice(info.max_sequence, info.longest_sequence));
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocabulary)
      return Status::failure(TALC_ERROR_TOKEN, "%s: token %zu is %d, outside the vocabulary 0 to %d", what.c_str(), i,
                             ids[i], vocabulary - 1);
  return {};
}

// Checks before any work whether an input can be evaluated. `what`: its name in messages.
static Status checkInput(const Plan &plan, const talc_model_info &info, const Prompt &input, const std::string &what) {
  bool answers = info.kind == TALC_MODEL_ENCODER_DECODER;
  int32_t vocabulary = info.vocabulary_size;
  if (Status status = checkIds(what, input.ids, answers ? info.source_vocabulary_size : vocabulary, info);
      status.failed())
    return status;
  if (Status status = checkIds(what + ": --decoder-ids", input.decoderIds, vocabulary, info); status.failed())
    return status;
  size_t begins = !answers ? input.ids.size() : std::max<size_t>(input.decoderIds.size(), 1);
  return checkBeginning(plan, info, begins, what);
}

static Printer::Form chooseForm(const Options &options, const talc_model_info &info,
                                const std::vector<Prompt> &inputs) {
  bool generates = info.kind != TALC_MODEL_ENCODER, one = inputs.size() == 1;
  if (options.writesTensors() && options.settings.newTokens.value_or(0) == 0)
    return Printer::Form::Nothing;
  if (options.writesVectors())
    return Printer::Form::Nothing;
  if (options.json)
    return Printer::Form::Plain;
  if (!options.inputFile.empty())
    return Printer::Form::Lines;
  if (!generates)
    return one || !answersInLines(info, options, inputs) ? Printer::Form::Plain : Printer::Form::Headed;
  if (one)
    return Printer::Form::Stream;
  return options.usesIds() || info.kind == TALC_MODEL_ENCODER_DECODER ? Printer::Form::Plain : Printer::Form::Headed;
}

static Status createSession(const Job &job, size_t slots, SessionHandle &session) {
  talc_session_options sessionOptions = {};
  sessionOptions.struct_size = sizeof(sessionOptions);
  sessionOptions.threads = job.options.threads;
  sessionOptions.slots = static_cast<int32_t>(slots);
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
  for (size_t input = 0; input < job.inputs.count(); ++input)
    rows.push_back(oneRow                                ? 1
                   : job.info.kind == TALC_MODEL_ENCODER ? job.inputs[input].ids.size()
                                                         : job.beginning(job.inputs[input]).size());
  return file.create(path, hidden ? "hidden" : "logits", rows, width);
}

// Returns how many inputs are evaluated at a time. The number of inputs of a stream is unknown.
static size_t countPlaces(const Job &job) {
  size_t maxPlaces = job.fromFile ? job.options.batch : job.inputs.count();
  return job.inputs.isStream() ? maxPlaces : std::max<size_t>(1, std::min(maxPlaces, job.inputs.count()));
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
    status = TextGeneration(job, session.get(), plan.settings, places, writesLogits ? &logits : nullptr).run();
  else
    status =
        TextEncoding(job, session.get(), places, writesLogits ? &logits : nullptr, writesHidden ? &hidden : nullptr)
            .run();
  if (interrupted())  // tensors have the rows of all texts
    return status;
  if (!status.failed() && writesLogits)
    status = logits.finish();
  if (!status.failed() && writesHidden)
    status = hidden.finish();
  return status;
}

static Status checkStart(const talc_model_info &info, const std::vector<Prompt> &prompts) {
  auto begins = [](const Prompt &prompt) { return !prompt.decoderIds.empty(); };
  bool needsToken = info.kind == TALC_MODEL_ENCODER_DECODER && info.search.start_token < 0;
  if (!needsToken || (!prompts.empty() && std::all_of(prompts.begin(), prompts.end(), begins)))
    return {};
  return Status::failure(TALC_ERROR_USAGE,
                         "%s: does not say which token begins a text; give --decoder-ids IDS after each prompt",
                         info.name);
}

// Reads the inputs of the command line, or those of the file that have come; wrong lines cause a message and have empty
// results.
static Status readInputs(const Options &options, const talc_model_info &info, const Plan &plan,
                         std::vector<Prompt> &prompts, Inputs &inputs) {
  auto check = [&](const Prompt &input, const std::string &what) { return checkInput(plan, info, input, what); };
  if (Status status = checkStart(info, prompts); status.failed())
    return status;
  if (!options.inputFile.empty()) {
    bool readsJson = options.readsJson.value_or(isJsonLinesName(options.inputFile));
    Status status = inputs.open(options.inputFile, readsJson, info.kind == TALC_MODEL_ENCODER, check);
    return status.failed() ? status : inputs.fetch(true);
  }
  const char *item = itemName(info);
  for (size_t i = 0; i < prompts.size(); ++i)
    if (Status status = check(prompts[i], item + (" " + std::to_string(i + 1))); status.failed())
      return status;
  inputs.take(std::move(prompts));
  return {};
}

static Status runJob(const Job &job, const Plan &plan, Output &output, SessionHandle &session) {
  bool writesVectors = job.options.writesVectors();
  if (Status status = writesVectors ? job.vectors.open(job.options.outputFile) : output.open(job.options.outputFile);
      status.failed())
    return status;
  if (job.fromFile)
    finishOnInterrupt();
  if (Status status = job.finishEmpty(); status.failed())
    return status;
  if (Status status = runModel(job, plan, session); status.failed())
    return status;
  if (writesVectors && !interrupted())
    if (Status status = job.vectors.finish(job.inputs.count()); status.failed())
      return status;
  return job.printer.finishAll();
}

// After all others are done.
static Status tellFailures(const Inputs &inputs, const std::string &file) {
  if (inputs.failures() == 0)
    return {};
  return Status::failure(inputs.failureCode(), "%s: %zu of %zu lines cannot be evaluated and have empty results",
                         shownName(file).c_str(), inputs.failures(), inputs.count());
}

Status evaluateInputs(const talc_model *model, const talc_model_info &info, const Options &options,
                      double loadSeconds) {
  bool fromFile = !options.inputFile.empty();
  PrefixText prefix;
  const BeginTokens begins(model, options.sourceLanguage, options.addsBegin);
  if (Status status = prefix.read(model, begins, options.prefixText); status.failed())
    return status;
  talc_embedding_info embeddings = {};
  embeddings.struct_size = sizeof(embeddings);
  talc_embedding_get_info(model, &embeddings, nullptr);
  TextRules rules;
  if (Status status = rules.read(model, embeddings, options); status.failed())
    return status;
  std::vector<Prompt> prompts;
  if (!fromFile)
    if (Status status = readPrompts(model, rules, options.prompts, &begins, prompts); status.failed())
      return status;
  for (Prompt &prompt : prompts)
    prefix.putBefore(prompt);
  Printer::Form form = chooseForm(options, info, prompts);
  Plan plan;
  makePlan(options, info, form, plan);
  Inputs inputs(model, rules, begins, prefix);
  if (Status status = readInputs(options, info, plan, prompts, inputs); status.failed())
    return status;
  Output output;
  VectorFile vectors;
  Timing timing;
  std::vector<CutText> cut;
  SessionHandle session;
  bool showsProgress = fromFile && !options.quiet && !inputs.isStream();
  Printer printer(output, form, itemName(info), showsProgress ? inputs.count() : 0);
  Job job = {model, info, options, inputs, fromFile, printer, timing, cut, embeddings, rules, vectors};
  double begin = secondsNow();
  if (Status status = runJob(job, plan, output, session); status.failed())
    return status;
  if (interrupted())
    endByInterrupt();
  fputs(endingText(job).c_str(), stderr);
  if (!options.quiet && options.drawsSeed)
    fprintf(stderr, "seed: %" PRIu64 "\n", *options.seed);
  if (!options.quiet)
    fputs(summaryText(job, session.get(), loadSeconds, secondsNow() - begin).c_str(), stderr);
  return tellFailures(inputs, options.inputFile);
}

}  // namespace talc::program
