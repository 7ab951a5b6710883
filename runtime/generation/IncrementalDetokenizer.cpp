// SPDX-License-Identifier: Apache-2.0
// A stop text may come in several parts: what could be its beginning is held back until more is known.
#include "runtime/generation/IncrementalDetokenizer.h"

#include <algorithm>

namespace talc {

// Tokens are detokenized one by one only if text is shown as it comes, follows other text, or may end it.
IncrementalDetokenizer::IncrementalDetokenizer(const Model &model, const Request &request)
    : tokenizer(model.tokenizer()), request(request) {
  constexpr size_t usualBytes = 512;
  bool wholeSuffices = request.textForm == TALC_TEXT_AT_END && request.isAnswer && request.stops.empty();
  if ((request.textForm == TALC_TEXT_NONE && request.stops.empty()) || wholeSuffices)
    return;
  stream.emplace(*tokenizer);
  DecodeScratch scratch;
  if (!request.isAnswer)
    stream->follow(request.beginning.data(), request.beginning.size(), scratch);
  text.reserve(usualBytes);
}

bool IncrementalDetokenizer::push(int32_t id, DecodeScratch &scratch) {
  if (!stream || ended)
    return false;
  text.erase(0, takenBytes);
  takenBytes = 0;
  const size_t before = text.size();
  if (request.stops.empty()) {
    stream->push(id, scratch, &text);
    return false;
  }
  // Bytes that are held back may have a stop text, too. Then the text ends, and nothing else is to come.
  const size_t finalBytes = stream->pushAndPeek(id, scratch, text);
  if (text.size() > before && findStop(before))
    return true;
  text.resize(finalBytes);
  return false;
}

// `from`: where the new text begins.
bool IncrementalDetokenizer::findStop(size_t from) {
  size_t stopAt = std::string::npos;
  for (const std::string &stop : request.stops)
    stopAt = std::min(stopAt, text.find(stop, from - std::min(from, stop.size() - 1)));
  if (stopAt == std::string::npos)
    return false;
  text.resize(stopAt);
  return ended = true;
}

// Returns the bytes at the end that may become a stop text.
size_t IncrementalDetokenizer::heldBack() const {
  size_t maxHeld = 0;
  for (const std::string &stop : request.stops)
    for (size_t size = std::min(stop.size() - 1, text.size()); size > maxHeld; --size)
      if (text.compare(text.size() - size, size, stop, 0, size) == 0)
        maxHeld = size;
  return maxHeld;
}

void IncrementalDetokenizer::finish(const int32_t *ids, size_t count, DecodeScratch &scratch) {
  if (!ended && stream) {
    text.erase(0, takenBytes);
    takenBytes = 0;
    size_t before = text.size();
    stream->finish(scratch, &text);
    findStop(before);
  } else if (!ended && request.textForm == TALC_TEXT_AT_END) {
    tokenizer->decode(ids, count, true, scratch, text);
  }
  ended = true;
}

std::string_view IncrementalDetokenizer::take() {
  if (request.textForm == TALC_TEXT_NONE || (!ended && request.textForm == TALC_TEXT_AT_END))
    return {};
  size_t begin = takenBytes;
  takenBytes = ended ? text.size() : std::max(takenBytes, text.size() - heldBack());
  return std::string_view(text).substr(begin, takenBytes - begin);
}

}  // namespace talc
