// SPDX-License-Identifier: Apache-2.0
// Streaming by decoders that remember what the next id may change.
#include "runtime/tokenizer/TextStream.h"

namespace talc {

TextStream::TextStream(const Tokenizer &tokenizer, bool skipSpecial)
    : tokenizer(tokenizer), skipSpecial(skipSpecial), states(tokenizer.newDecodeStates()), next(states) {
  constexpr size_t usualBytes = 64;
  for (auto *list : {&states, &next})
    for (DecodeState &state : *list)
      state.held.reserve(usualBytes);
}

void TextStream::follow(const int32_t *before, size_t count, DecodeScratch &scratch) {
  for (size_t i = 0; i < count; ++i)
    tokenizer.decodeNext(before[i], skipSpecial, states, scratch, scratch.decoded);
  tokenizer.decodeEnd(tokenizer::After::OtherText, states, scratch, scratch.decoded);
}

std::string_view TextStream::push(int32_t id, DecodeScratch &scratch, std::string *target) {
  next = states;
  tokenizer.decodeNext(id, skipSpecial, next, scratch, scratch.decoded);
  if (target)
    target->append(scratch.decoded);
  states.swap(next);
  return scratch.decoded;
}

size_t TextStream::pushAndPeek(int32_t id, DecodeScratch &scratch, std::string &target) {
  next = states;
  tokenizer.decodeNext(id, skipSpecial, next, scratch, scratch.decoded);
  scratch.states = next;
  tokenizer.decodeEnd(tokenizer::After::Nothing, scratch.states, scratch, scratch.peeked);
  target.reserve(target.size() + scratch.decoded.size() + scratch.peeked.size());
  target += scratch.decoded;
  const size_t finalBytes = target.size();
  target += scratch.peeked;
  states.swap(next);
  return finalBytes;
}

std::string_view TextStream::finish(DecodeScratch &scratch, std::string *target) {
  next = states;
  tokenizer.decodeEnd(tokenizer::After::Nothing, next, scratch, scratch.decoded);
  if (target)
    target->append(scratch.decoded);
  for (DecodeState &state : states)
    state = {};
  return scratch.decoded;
}

}  // namespace talc
