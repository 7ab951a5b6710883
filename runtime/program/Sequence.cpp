// SPDX-License-Identifier: Apache-2.0
// Samples, detokenizes, and decides when a text ends.
#include "runtime/program/Sequence.h"

#include <algorithm>
#include <cmath>
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
  talc_error error;
  talc_sampler *created = nullptr;
  talc_status code = talc_sampler_create(model, &rules->sampling, &created, &error);
  sampler.reset(created);
  if (code == TALC_OK)
    code = talc_sampler_accept(sampler.get(), text.data(), static_cast<int32_t>(text.size()), &error);
  words.reset();
  if (code != TALC_OK || !rules->makesText || !(rules->streams || hasContext))
    return Status::from(code, error);
  return createStream(model, hasContext ? text : std::vector<int32_t>(), words);
}

// The chosen token needs no room in the state: only evaluating it for the next one does.
Status Sequence::extend(const float *logits) {
  int32_t id = 0;
  if (Status status = choose(logits, id); status.failed())
    return status;
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

Status Sequence::choose(const float *logits, int32_t &id) {
  talc_error error;
  id = forcedToken();
  talc_status code = id >= 0 ? talc_sampler_accept(sampler.get(), &id, 1, &error)
                             : talc_sample(sampler.get(), forbid(logits), &id, &error);
  return Status::from(code, error);
}

// -1: none. As Hugging Face's generate(): the first after a text of one token, the other at its end.
int32_t Sequence::forcedToken() const {
  size_t last = std::min(beginning + rules->newTokens(beginning), rules->capacity + 1);
  if (text.size() + 1 == last && rules->search.forced_end >= 0)
    return rules->search.forced_end;
  return text.size() == 1 ? rules->search.forced_begin : -1;
}

// As Hugging Face's generate(): what may not be first is forbidden after a token that is forced to be.
const float *Sequence::forbid(const float *logits) {
  const talc_search &search = rules->search;
  size_t shortest = std::max<size_t>(search.min_length, beginning + search.min_new_tokens);
  bool isShort = !rules->ignoreEnd && text.size() < shortest;
  bool isFirst = text.size() == beginning + (beginning == 1 && search.forced_begin >= 0);
  isFirst = isFirst && search.begin_suppressed_count > 0;
  if (!isShort && !isFirst && search.no_repeat_ngram == 0 && search.forbidden_count == 0)
    return logits;
  talc_model_info info;
  talc_model_get_info(model, &info, nullptr);
  allowed.assign(logits, logits + info.vocabulary_size);
  forbidNgrams(search.no_repeat_ngram);
  forbidGroups();
  if (isShort)
    forbidAll(info.end_tokens, info.end_token_count);
  if (isFirst)
    forbidAll(search.begin_suppressed, search.begin_suppressed_count);
  return allowed.data();
}

// The text's last tokens are the beginning of groups that occurred: forbids their last tokens.
void Sequence::forbidNgrams(size_t size) {
  for (size_t i = 0; size > 0 && i + size <= text.size(); ++i)
    if (std::equal(text.end() - (size - 1), text.end(), text.begin() + i))
      allowed[text[i + size - 1]] = -HUGE_VALF;
}

void Sequence::forbidAll(const int32_t *ids, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    allowed[ids[i]] = -HUGE_VALF;
}

// The same of groups that may not occur. A text has to be as long as the group.
void Sequence::forbidGroups() {
  const int32_t *groups = rules->search.forbidden;
  for (int32_t at = 0; at < rules->search.forbidden_count; at += groups[at] + 1) {
    auto size = static_cast<size_t>(groups[at]);
    if (text.size() >= size && std::equal(text.end() - (size - 1), text.end(), groups + at + 1))
      allowed[groups[at + size]] = -HUGE_VALF;
  }
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
