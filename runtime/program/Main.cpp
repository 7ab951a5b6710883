// SPDX-License-Identifier: Apache-2.0
// The program of an executable artifact: opens the embedded model and does what the command line asks.
#include "runtime/EmbeddedModel.h"
#include "runtime/program/Handles.h"
#include "runtime/program/Job.h"
#include "runtime/program/Signals.h"
#include "runtime/program/input/Prompts.h"
#include "runtime/program/output/Output.h"
#include "runtime/program/output/Progress.h"

#include <algorithm>
#include <cstdio>

namespace talc::program {

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

static talc_open_options makeOpenOptions(const Options &options) {
  bool reads = options.action == Action::Evaluate;
  talc_open_options openOptions = {};
  openOptions.struct_size = sizeof(openOptions);
  openOptions.skip_weights_check = options.skipCheck || !reads;
  openOptions.copy_weights = options.hugePages && reads;
  openOptions.device = options.device.c_str();
  openOptions.on_progress = options.quiet ? nullptr : showUpload;
  return openOptions;
}

// Removes the error code from a message.
static void tellDeviceNote(const talc_model_info &info) {
  std::string note = info.device_note;
  size_t end = note.find("]: ");
  note.erase(0, end == std::string::npos ? 0 : end + 3);
  fprintf(stderr, "warning: %s; the model runs on %s instead\n", note.c_str(), info.device);
}

static Status openModel(const Options &options, ModelHandle &model, talc_model_info &info) {
  const talc_open_options openOptions = makeOpenOptions(options);
  talc_model *opened = nullptr;
  talc_error error;
  talc_status code = options.model.empty() ? openEmbedded(talc_embedded_artifact, &openOptions, &opened, &error)
                                           : talc_model_open(options.model.c_str(), &openOptions, &opened, &error);
  if (code != TALC_OK)
    return Status::from(code, error);
  model.reset(opened);
  info.struct_size = sizeof(info);
  talc_model_get_info(opened, &info, nullptr);
  return {};
}

// Also where the model cannot run.
static Status printHelp(const Options &options, const char *program) {
  Options onCpu = options;
  onCpu.device = "cpu";
  ModelHandle model;
  talc_model_info info = {};
  bool isOpen = !openModel(onCpu, model, info).failed();
  return printOut(helpText(program, isOpen ? &info : nullptr));
}

// Nothing runs, so that a CPU will do where there is code for one.
static Status printInfo(const Options &options) {
  Options onCpu = options;
  onCpu.device = "cpu";
  ModelHandle model;
  talc_model_info info = {};
  Status status = openModel(onCpu, model, info);
  if (status.failed())
    status = openModel(options, model, info);
  return status.failed() ? status : printOut(manifestText(model.get(), options.json));
}

static Status useModel(const Options &options) {
  double begin = secondsNow();
  bool reads = options.action == Action::Evaluate;
  ModelHandle model;
  talc_model_info info = {};
  if (Status status = openModel(options, model, info); status.failed())
    return status;
  talc_model *const opened = model.get();
  if (info.device_note)
    tellDeviceNote(info);
  double loadSeconds = secondsNow() - begin;
  if (Status status = checkKind(options, info); status.failed())
    return status;
  if (options.action == Action::Memory) {
    int32_t threads = options.threads ? std::min(options.threads, talc_max_threads()) : talc_default_threads();
    return printOut(memoryText(opened, info, threads));
  }
  if (reads)
    return evaluateInputs(opened, info, options, loadSeconds);
  std::vector<Prompt> prompts;
  const BeginTokens begins(opened, options.sourceLanguage, options.addsBegin);
  if (Status status = readPrompts(opened, TextRules(options.sourceLanguage), options.prompts,
                                  options.addsBegin ? nullptr : &begins, prompts);
      status.failed())
    return status;
  return options.action == Action::Tokenize ? printTokenized(prompts) : printDetokenized(opened, prompts);
}

static Status execute(int count, char **arguments) {
  Options options;
  if (Status status = parseOptions(count, arguments, options); status.failed())
    return status;
  if (options.action == Action::Help)
    return printHelp(options, arguments[0]);
  if (options.action == Action::Info)
    return printInfo(options);
  if (options.action == Action::Devices)
    return printOut(devicesText());
  if (options.action == Action::Version)
    return printOut(std::string("talc runtime ") + talc_version() + "\n");
  return useModel(options);
}

}  // namespace talc::program

int main(int count, char **arguments) try {
  talc::program::prepareSignals();
  if (!talc::program::prepareStack()) {
    fputs("error[T0408]: the program needs a stack of 128 KiB, more than the limit (ulimit -s)\n", stderr);
    return 1;
  }
  talc::Status status = talc::program::execute(count, arguments);
  if (!status.failed())
    return 0;
  fprintf(stderr, "%s\n", status.text().c_str());
  return status.code() == TALC_ERROR_USAGE ? 2 : 1;
} catch (...) {  // the standard library was refused memory
  fputs("error[T0408]: the system refused memory; free some, or give smaller texts or a smaller --batch\n", stderr);
  return 1;
}
