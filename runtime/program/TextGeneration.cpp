// SPDX-License-Identifier: Apache-2.0
// Inputs are submitted as they come; the generator does the rest.
#include "runtime/program/TextGeneration.h"

#include "runtime/program/Signals.h"
#include "runtime/program/output/JsonText.h"
#include "runtime/program/output/Output.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace talc::program {

Status TextGeneration::run() {
  if (Status status = createGenerator(); status.failed())
    return status;
  while (!interrupted()) {
    if (Status status = submitNext(); status.failed())
      return status;
    if (listeners.empty())
      break;
    talc_error error;
    if (talc_status code = talc_generator_step(generator.get(), nullptr, &error))
      return Status::from(code, error);
    if (failure.failed())
      return failure;
  }
  noteCounts();
  return {};
}

// When the logits of prompts are wanted, a step has no more of them than fit in some memory.
Status TextGeneration::createGenerator() {
  constexpr size_t usualTokens = 512, logitBytes = size_t(64) << 20;
  talc_generator_options options = {};
  options.struct_size = sizeof(options);
  size_t rowBytes = job.info.vocabulary_size * sizeof(float);
  if (logitsFile)
    options.step_tokens = static_cast<int32_t>(std::clamp<size_t>(logitBytes / rowBytes, 1, usualTokens));
  talc_error error;
  talc_generator *created = nullptr;
  talc_status code = talc_generator_create(session, &options, &created, &error);
  generator.reset(created);
  return Status::from(code, error);
}

// As many requests wait as are running: enough to refill all slots. With nothing to do, this waits for the next line.
Status TextGeneration::submitNext() {
  while (listeners.size() < 2 * places) {
    if (!job.inputs.hasNext() && !job.inputs.ended())
      if (Status status = job.fetch(listeners.empty()); status.failed())
        return status;
    if (!job.inputs.hasNext())
      break;
    if (Status status = submit(job.inputs.takeNext()); status.failed())
      return status;
  }
  return {};
}

Status TextGeneration::submit(size_t input) {
  const Prompt &prompt = job.inputs[input];
  Listener &listener = listeners.emplace(input, Listener{this, input}).first->second;
  if (job.options.json)
    listener.echo = job.jsonHead(input) + (writesIds() ? ",\"ids\":[" : ",\"text\":\"");
  else if (job.echoes())
    listener.echo = prompt.text;
  if (!delaysEcho())
    if (Status status = printEcho(listener); status.failed())
      return status;
  talc_request request = settings;
  request.ids = prompt.ids.data();
  request.count = static_cast<int32_t>(prompt.ids.size());
  request.types = prompt.types.empty() ? nullptr : prompt.types.data();
  request.beginning = prompt.decoderIds.data();
  request.beginning_count = static_cast<int32_t>(prompt.decoderIds.size());
  if (prompt.prefix > 0)
    request.prefix = prompt.prefix;
  request.prompt_logits = logitsFile != nullptr;
  promptTotal = job.beginning(prompt).size();
  request.user = &listener;
  request.on_event = [](void *user, const talc_event *event) {
    auto *listener = static_cast<Listener *>(user);
    TextGeneration &generation = *listener->generation;
    Status status = generation.take(*listener, *event);
    if (status.failed() && !generation.failure.failed())
      generation.failure = status;
    return int32_t(status.failed());
  };
  talc_error error;
  talc_status code = talc_generator_submit(generator.get(), &request, nullptr, &error);
  job.inputs.release(input);
  return Status::from(code, error);
}

Status TextGeneration::take(Listener &listener, const talc_event &event) {
  if (event.kind == TALC_EVENT_PROMPT)
    promptProgress.show(promptDone += static_cast<uint64_t>(event.count), promptTotal);
  else if (Status status = printEcho(listener); status.failed())
    return status;
  if (event.kind == TALC_EVENT_PROMPT)
    return !logitsFile ? Status()
                       : logitsFile->append(event.logits, size_t(event.logit_rows) * job.info.vocabulary_size);
  if (event.kind == TALC_EVENT_END)
    return finish(listener.input, event);
  if (settings.text_form == TALC_TEXT_NONE)
    return appendId(listener, event.ids[0]);
  return appendText(listener.input, {event.text, event.text_size});
}

Status TextGeneration::appendText(size_t input, std::string_view text) {
  if (text.empty())
    return {};
  if (!job.options.json || writesIds())
    return job.printer.append(input, text);
  std::string escaped;
  appendEscaped(escaped, text);
  return job.printer.append(input, escaped);
}

// The words of talc_ending.
static const char *endingName(talc_ending ending) {
  switch (ending) {
  case TALC_ENDING_END_TOKEN:
    return "end";
  case TALC_ENDING_STATE_FULL:
    return "full";
  case TALC_ENDING_STOP:
    return "stop";
  case TALC_ENDING_CANCELLED:
    return "cancelled";
  default:
    return "length";
  }
}

bool TextGeneration::delaysEcho() const {
  return showsPrompt() && isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

Status TextGeneration::printEcho(Listener &listener) {
  promptProgress.finish();
  std::string text = std::move(listener.echo);
  listener.echo.clear();
  return text.empty() ? Status() : job.printer.append(listener.input, text);
}

Status TextGeneration::appendId(Listener &listener, int32_t id) {
  const char *separator = listener.hasIds ? "," : "";
  listener.hasIds = true;
  return job.printer.append(listener.input, separator + std::to_string(id));
}

Status TextGeneration::finish(size_t input, const talc_event &event) {
  listeners.erase(input);
  if (event.ending == TALC_ENDING_FAILED)
    return Status::from(event.error->status, *event.error);
  if (event.ending == TALC_ENDING_STATE_FULL && !searches())
    job.cut.push_back({input, static_cast<size_t>(event.count)});
  if (searches())
    job.timing.decodedTokens += event.count;
  std::string text(event.text, event.text_size);
  if (settings.text_form == TALC_TEXT_NONE && searches())
    text = joinIds({event.ids, event.ids + event.count});
  if (Status status = appendText(input, text); status.failed())
    return status;
  if (job.options.json) {
    std::string end = std::string(writesIds() ? "]" : "\"") + ",\"ending\":\"" + endingName(event.ending) + "\"}";
    if (Status status = job.printer.append(input, end); status.failed())
      return status;
  }
  return job.printer.finish(input);
}

// Beam search counts the tokens of its results, and not the start token of an answer.
void TextGeneration::noteCounts() const {
  talc_generator_counts counts = {};
  counts.struct_size = sizeof(counts);
  talc_generator_get_counts(generator.get(), &counts, nullptr);
  job.timing.promptTokens = counts.source_tokens;
  if (!searches() || !job.translates())
    job.timing.promptTokens += counts.prompt_tokens;
  if (!searches())
    job.timing.decodedTokens = counts.new_tokens;
  job.timing.promptSeconds = counts.prompt_seconds;
  job.timing.decodeSeconds = counts.new_seconds;
  job.timing.maxKvBytes = counts.most_state;
}

}  // namespace talc::program
