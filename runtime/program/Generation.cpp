// SPDX-License-Identifier: Apache-2.0
// The lines of a file are sorted, so that texts of like lengths are together; the generator does the rest.
#include "runtime/program/Generation.h"

#include "runtime/program/Output.h"
#include "runtime/program/Signals.h"

#include <algorithm>

namespace talc::program {

Generation::Generation(const Job &job, talc_session *session, const talc_request &settings, size_t places,
                       TensorFile *logits)
    : job(job), session(session), settings(settings), places(places), logitsFile(logits) {
  for (size_t input = 0; input < job.inputs.size(); ++input) {
    listeners.push_back({this, input});
    if (!job.inputs[input].ids.empty())
      order.push_back(input);
  }
  auto before = [&](size_t a, size_t b) {
    size_t length = job.inputs[a].ids.size(), other = job.inputs[b].ids.size();
    return length != other ? length > other : a < b;
  };
  if (job.fromFile)
    std::sort(order.begin(), order.end(), before);
}

Status Generation::run() {
  if (Status status = createGenerator(); status.failed())
    return status;
  while (ended < order.size() && !interrupted()) {
    if (Status status = submitNext(); status.failed())
      return status;
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
Status Generation::createGenerator() {
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

// As many wait as are worked on: enough to refill all places.
Status Generation::submitNext() {
  while (submitted < order.size() && submitted - ended < 2 * places)
    if (Status status = submit(order[submitted++]); status.failed())
      return status;
  return {};
}

Status Generation::submit(size_t input) {
  const Prompt &prompt = job.inputs[input];
  if (job.echoes())
    if (Status status = job.printer.append(input, prompt.text); status.failed())
      return status;
  talc_request request = settings;
  request.ids = prompt.ids.data();
  request.count = static_cast<int32_t>(prompt.ids.size());
  request.types = prompt.types.empty() ? nullptr : prompt.types.data();
  request.beginning = prompt.decoderIds.data();
  request.beginning_count = static_cast<int32_t>(prompt.decoderIds.size());
  request.prompt_logits = logitsFile != nullptr;
  request.user = &listeners[input];
  request.on_event = [](void *user, const talc_event *event) {
    const auto *listener = static_cast<const Listener *>(user);
    Status status = listener->generation->take(listener->input, *event);
    if (status.failed() && !listener->generation->failure.failed())
      listener->generation->failure = status;
    return int32_t(status.failed());
  };
  talc_error error;
  return Status::from(talc_generator_submit(generator.get(), &request, nullptr, &error), error);
}

Status Generation::take(size_t input, const talc_event &event) {
  if (event.kind == TALC_EVENT_PROMPT)
    return !logitsFile ? Status()
                       : logitsFile->append(event.logits, size_t(event.logit_rows) * job.info.vocabulary_size);
  if (event.kind == TALC_EVENT_END)
    return finish(input, event);
  return event.text_size > 0 ? job.printer.append(input, {event.text, event.text_size}) : Status();
}

Status Generation::finish(size_t input, const talc_event &event) {
  ++ended;
  if (event.ending == TALC_ENDING_FAILED)
    return Status::from(event.error->status, *event.error);
  if (event.ending == TALC_ENDING_STATE_FULL && !searches())
    job.cut.push_back({input, static_cast<size_t>(event.count)});
  if (searches())
    job.timing.decodedTokens += event.count;
  std::string text(event.text, event.text_size);
  if (settings.text_form == TALC_TEXT_NONE && settings.new_tokens != TALC_NONE)
    text = joinIds({event.ids, event.ids + event.count});
  if (!text.empty())
    if (Status status = job.printer.append(input, text); status.failed())
      return status;
  return job.printer.finish(input);
}

// Beam search counts the tokens of its results, and not the start token of an answer.
void Generation::noteCounts() const {
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
  job.timing.mostState = counts.most_state;
}

}  // namespace talc::program
