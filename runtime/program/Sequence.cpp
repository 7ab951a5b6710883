// SPDX-License-Identifier: Apache-2.0
// Samples, detokenizes, and decides when a sequence ends.
#include "runtime/program/Sequence.h"

#include <utility>

namespace talc::program {

Status Sequence::start(const talc_model *usedModel, const talc_sampling &sampling, Prompt prompt, bool streams) {
  model = usedModel;
  given = std::move(prompt);
  talc_error error;
  auto count = static_cast<int32_t>(given.ids.size());
  talc_sampler *createdSampler = nullptr;
  talc_status code = talc_sampler_create(model, &sampling, &createdSampler, &error);
  sampler.reset(createdSampler);
  if (code == TALC_OK)
    code = talc_sampler_accept(sampler.get(), given.ids.data(), count, &error);
  if (code == TALC_OK && streams) {
    talc_text_stream *createdStream = nullptr;
    code = talc_text_stream_create(model, given.ids.data(), count, &createdStream, &error);
    words.reset(createdStream);
  }
  return Status::from(code, error);
}

// The sampled token needs no room in the state: only evaluating it for the next one does.
Status Sequence::extend(const float *logits, size_t limit, size_t capacity, bool ignoreEnd) {
  int32_t id = 0;
  talc_error error;
  if (talc_status code = talc_sample(sampler.get(), logits, &id, &error))
    return Status::from(code, error);
  made.push_back(id);
  if (Status status = stream(id); status.failed())
    return status;
  if (!ignoreEnd && talc_is_end_token(model, id))
    end = Ending::EndToken;
  else if (made.size() >= limit)
    end = Ending::Count;
  else if (given.ids.size() + made.size() > capacity)
    end = Ending::StateFull;
  return ended() ? finishStream() : Status();
}

Status Sequence::stream(int32_t id) {
  if (!words)
    return {};
  const char *text;
  size_t size;
  talc_error error;
  talc_status code = talc_text_stream_push(words.get(), id, &text, &size, &error);
  pending.append(text, size);
  return Status::from(code, error);
}

Status Sequence::finishStream() {
  if (!words)
    return {};
  const char *text;
  size_t size;
  talc_error error;
  talc_status code = talc_text_stream_finish(words.get(), &text, &size, &error);
  if (code == TALC_OK)
    pending.append(text, size);
  return Status::from(code, error);
}

std::string Sequence::takeText() {
  return std::exchange(pending, {});
}

}  // namespace talc::program
