// SPDX-License-Identifier: Apache-2.0
// Samples, detokenizes, and decides when a text ends.
#include "runtime/program/Sequence.h"

#include <algorithm>
#include <utility>

namespace talc::program {

static Status createStream(const talc_model *model, const std::vector<int32_t> &context, TextStreamHandle &stream) {
  talc_error error;
  talc_text_stream *created = nullptr;
  talc_status code =
      talc_text_stream_create(model, context.data(), static_cast<int32_t>(context.size()), &created, &error);
  stream.reset(created);
  return Status::from(code, error);
}

Status Sequence::start(const talc_model *usedModel, const SequenceRules &usedRules, std::vector<int32_t> given,
                       bool hasContext) {
  model = usedModel;
  rules = &usedRules;
  text = std::move(given);
  beginning = text.size();
  evaluated = 0;
  end = Ending::None;
  pending.clear();
  words.reset();
  if (Status status = createSampler(); status.failed())
    return status;
  if (!rules->makesText || !(rules->streams || hasContext))
    return {};
  return createStream(model, hasContext ? text : std::vector<int32_t>(), words);
}

Status Sequence::createSampler() {
  size_t length = std::min(beginning + rules->newTokens(beginning), rules->capacity + 1);
  talc_error error;
  talc_sampler *created = nullptr;
  talc_status code =
      talc_sampler_create(model, &rules->sampling, &rules->search, static_cast<int32_t>(length), &created, &error);
  sampler.reset(created);
  if (code == TALC_OK)
    code = talc_sampler_accept(sampler.get(), text.data(), static_cast<int32_t>(beginning), &error);
  return Status::from(code, error);
}

// The chosen token needs no room in the state: only evaluating it for the next one does.
Status Sequence::extend(const float *logits) {
  int32_t id = 0;
  talc_error error;
  if (talc_status code = talc_sample(sampler.get(), logits, &id, &error))
    return Status::from(code, error);
  text.push_back(id);
  if (Status status = stream(id); status.failed())
    return status;
  if (!rules->ignoreEnd && talc_is_end_token(model, id))
    end = Ending::EndToken;
  else if (text.size() - beginning >= rules->newTokens(beginning))
    end = Ending::Count;
  else if (text.size() > rules->capacity)
    end = Ending::StateFull;
  return end != Ending::None ? finishStream() : Status();
}

Status Sequence::stream(int32_t id) {
  if (!words)
    return {};
  const char *made;
  size_t size;
  talc_error error;
  talc_status code = talc_text_stream_push(words.get(), id, &made, &size, &error);
  pending.append(made, size);
  return Status::from(code, error);
}

Status Sequence::finishStream() {
  if (!words)
    return rules->makesText ? textOf(model, {}, text.data() + beginning, text.size() - beginning, pending) : Status();
  const char *made;
  size_t size;
  talc_error error;
  talc_status code = talc_text_stream_finish(words.get(), &made, &size, &error);
  if (code == TALC_OK)
    pending.append(made, size);
  return Status::from(code, error);
}

std::string Sequence::takeText() {
  return std::exchange(pending, {});
}

// A text that stands alone needs no stream.
static Status wholeText(const talc_model *model, const int32_t *ids, size_t count, std::string &text) {
  constexpr size_t roomPerToken = 16;
  size_t before = text.size(), size = count * roomPerToken;
  talc_error error;
  talc_status code = TALC_ERROR_CAPACITY;
  for (int attempt = 0; attempt < 2 && code == TALC_ERROR_CAPACITY; ++attempt) {
    text.resize(before + size);
    code = talc_detokenize(model, ids, static_cast<int32_t>(count), &text[before], text.size() - before, &size, &error);
  }
  text.resize(before + (code == TALC_OK ? size : 0));
  return Status::from(code, error);
}

Status textOf(const talc_model *model, const std::vector<int32_t> &context, const int32_t *ids, size_t count,
              std::string &text) {
  if (context.empty())
    return wholeText(model, ids, count, text);
  TextStreamHandle words;
  if (Status status = createStream(model, context, words); status.failed())
    return status;
  const char *made;
  size_t size;
  talc_error error;
  for (size_t i = 0; i < count; ++i) {
    if (talc_status code = talc_text_stream_push(words.get(), ids[i], &made, &size, &error))
      return Status::from(code, error);
    text.append(made, size);
  }
  talc_status code = talc_text_stream_finish(words.get(), &made, &size, &error);
  text.append(made, size);
  return Status::from(code, error);
}

}  // namespace talc::program
