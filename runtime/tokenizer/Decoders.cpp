// SPDX-License-Identifier: Apache-2.0
// The decoders of tokenizer.json; each maps a list of token texts to a list of texts.
#include "runtime/tokenizer/Decoders.h"
#include "runtime/tokenizer/PatternMatcher.h"
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace talc::tokenizer {
namespace {

constexpr const char *replacement = "\xEF\xBF\xBD";  // U+FFFD

// `spare` is memory to work with, here and below.
void replaceAll(std::string &text, std::string_view from, std::string_view to, std::string &spare) {
  size_t done = 0, at = from.empty() ? std::string::npos : text.find(from);
  if (at == std::string::npos)
    return;
  spare.clear();
  for (; at != std::string::npos; at = text.find(from, done)) {
    spare.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  spare.append(text, done);
  text.swap(spare);
}

// Returns how many bytes one U+FFFD replaces: the longest part that could begin a character (Unicode, section 3.9).
size_t invalidLength(std::string_view text) {
  for (size_t length = 3; length > 1; --length) {
    if (text.size() < length)
      continue;
    // A truncated character becomes valid with some continuation.
    std::string part(text.substr(0, length));
    for (const char *tail : {"\x80", "\x80\x80"})
      if (validSequence(part + tail) == length + std::string_view(tail).size())
        return length;
  }
  return 1;
}

// Whether more bytes could make a character of these.
bool beginsCharacter(std::string_view bytes) {
  auto lead = static_cast<unsigned char>(bytes[0]);
  return bytes.size() == 1 ? lead >= 0xC2 && lead <= 0xF4 : bytes.size() < 4 && invalidLength(bytes) == bytes.size();
}

// Moves the text of `bytes` to `out`; an unfinished character stays unless this is the end.
void takeValid(std::string &bytes, bool isEnd, std::string &out) {
  size_t done = 0;
  while (done < bytes.size()) {
    std::string_view rest = std::string_view(bytes).substr(done);
    size_t length = validSequence(rest);
    if (length == 0 && !isEnd && beginsCharacter(rest))
      break;
    if (length > 0)
      out += rest.substr(0, length);
    else
      out += replacement, length = invalidLength(rest);
    done += length;
  }
  bytes.erase(0, done);
}

// Returns the bytes of a token of the byte-level alphabet; other tokens stay as they are.
void appendBytes(const std::string &token, std::string &out) {
  size_t before = out.size();
  for (size_t i = 0; i < token.size();) {
    int byte = byteOfCharacter(decodeAt(token, i));
    if (byte < 0) {
      out.resize(before);
      out += token;
      return;
    }
    out.push_back(static_cast<char>(byte));
  }
}

void decodeByteLevel(DecodeScratch &scratch, DecodeState &state, bool isEnd) {
  for (size_t i = 0; i < scratch.tokens.size(); ++i)
    appendBytes(scratch.tokens[i], state.held);
  scratch.tokens.clear();
  takeValid(state.held, isEnd, scratch.tokens.add());
}

// The byte of <0xHH>, or -1.
int byteToken(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>')
    return -1;
  auto digit = [](char c) {
    if (c >= '0' && c <= '9')
      return c - '0';
    if (c >= 'A' && c <= 'F')
      return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  int high = digit(token[3]), low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Returns the text of a run of byte tokens, or a U+FFFD for each.
void flushBytes(std::string &bytes, TextList &out) {
  if (!bytes.empty() && findInvalid(bytes) == std::string_view::npos)
    out.add() = bytes;
  else
    for (size_t i = 0; i < bytes.size(); ++i)
      out.add() = replacement;
  bytes.clear();
}

// A run is complete when another token follows: a byte that is not UTF-8 changes all of it.
void decodeByteFallback(DecodeScratch &scratch, DecodeState &state, After after) {
  scratch.next.clear();
  for (size_t i = 0; i < scratch.tokens.size(); ++i) {
    int byte = byteToken(scratch.tokens[i]);
    if (byte >= 0) {
      state.held.push_back(static_cast<char>(byte));
      continue;
    }
    flushBytes(state.held, scratch.next);
    scratch.next.add().swap(scratch.tokens[i]);
  }
  if (after == After::Nothing)
    flushBytes(state.held, scratch.next);
  else if (after == After::OtherText && !state.held.empty())
    takeValid(state.held, false, scratch.next.add());
  scratch.tokens.swap(scratch.next);
}

void join(const TextList &tokens, std::string_view separator, std::string &out) {
  out.clear();
  for (size_t i = 0; i < tokens.size(); ++i)
    out.append(i == 0 ? std::string_view() : separator).append(tokens[i]);
}

void fuse(DecodeScratch &scratch, DecodeState &state, std::string_view separator) {
  join(scratch.tokens, separator, scratch.text);
  if (state.count > 0 && scratch.tokens.size() > 0)
    scratch.text.insert(0, separator);
  state.count += scratch.tokens.size();
  scratch.tokens.clear();
  scratch.tokens.add() = scratch.text;
}

void stripToken(std::string &token, std::string_view content, uint32_t start, uint32_t stop) {
  if (content.empty())
    return;
  for (; start > 0 && token.compare(0, content.size(), content) == 0; --start)
    token.erase(0, content.size());
  auto endsWithContent = [&] {
    return token.size() >= content.size() && token.compare(token.size() - content.size(), content.size(), content) == 0;
  };
  for (; stop > 0 && endsWithContent(); --stop)
    token.resize(token.size() - content.size());
}

// Does the same with a token that comes in parts.
void stripPart(std::string &part, DecodeState &state, const Op &op, std::string_view content, bool isEnd) {
  if (content.empty())
    return;
  std::string &held = state.held;
  held += part;
  part.clear();
  if (!state.isAfter) {
    for (; state.count < op.a && held.compare(0, content.size(), content) == 0; ++state.count)
      held.erase(0, content.size());
    if (!isEnd && state.count < op.a && content.substr(0, held.size()) == held)
      return;
    state.isAfter = true;
  }
  size_t keptBytes = held.size();
  for (uint32_t stop = op.b; stop > 0 && keptBytes >= content.size(); --stop, keptBytes -= content.size())
    if (held.compare(keptBytes - content.size(), content.size(), content) != 0)
      break;
  part.assign(held, 0, keptBytes);
  held.erase(0, isEnd ? held.size() : keptBytes);
}

// English contractions and punctuation as BERT's detokenizer writes them.
void cleanUp(std::string &text, std::string &spare) {
  constexpr const char *rules[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto &rule : rules)
    replaceAll(text, rule[0], rule[1], spare);
}

void decodeWordPiece(std::string &token, size_t index, std::string_view prefix, bool cleanup, std::string &spare) {
  bool continues = token.compare(0, prefix.size(), prefix) == 0;
  if (index > 0 && continues)
    token.erase(0, prefix.size());
  else if (index > 0)
    token.insert(0, 1, ' ');
  if (cleanup)
    cleanUp(token, spare);
}

void decodeCtc(DecodeScratch &scratch, DecodeState &state, std::string_view pad, std::string_view delimiter,
               bool cleanup) {
  scratch.next.clear();
  for (size_t i = 0; i < scratch.tokens.size(); ++i) {
    std::string &token = scratch.tokens[i];
    if (state.count++ > 0 && token == state.held)
      continue;
    state.held = token;
    replaceAll(token, pad, "", scratch.text);
    if (cleanup) {
      cleanUp(token, scratch.text);
      replaceAll(token, delimiter, " ", scratch.text);
    }
    if (!token.empty())
      scratch.next.add().swap(token);
  }
  scratch.tokens.swap(scratch.next);
}

// Only the last token shows no space for a suffix: what begins with a suffix waits for the next token. `divides`:
// nobody minds if a token comes in two parts.
void decodeSuffix(DecodeScratch &scratch, DecodeState &state, std::string_view suffix, bool divides, bool isEnd) {
  auto flush = [&](std::string_view by) {
    replaceAll(state.held, suffix, by, scratch.text);
    scratch.next.add().swap(state.held);
    state.held.clear();
  };
  scratch.next.clear();
  for (size_t i = 0; i < scratch.tokens.size(); ++i) {
    const std::string &token = scratch.tokens[i];
    if (state.count++ > 0)
      flush(" ");
    size_t shown = divides ? std::min(token.find(suffix), token.size()) : 0;
    if (divides)
      scratch.next.add().assign(token, 0, shown);
    state.held.assign(token, shown);
  }
  if (isEnd && state.count > 0)
    flush("");
  scratch.tokens.swap(scratch.next);
}

// A replacement beyond the limits leaves a token as it is: decoding cannot fail.
void replacePattern(const Section &section, const Op &op, TextLimits &limits, std::string &token, std::string &spare) {
  spare.clear();
  if (!replaceMatches(section, op.a, token, section.text(op.text), limits, spare) || !limits.admits(spare.size()))
    return;
  limits.bytes -= spare.size() - std::min(spare.size(), token.size());
  token.swap(spare);
}

// Appends what becomes of the text that has come in parts. A place where the pattern saw the end of what is known
// waits, unless this is the end.
void replaceSettled(const Section &section, const Op &op, TextLimits &limits, DecodeState &state, bool isEnd,
                    std::string &out) {
  const std::string &text = state.held;
  const size_t first = state.count, outSize = out.size();
  PatternMatcher matcher(section, op.a, text, limits.steps);
  matcher.resume(first, state.isAfter);
  size_t begin = 0, end = 0, done = first;
  for (; limits.admits(out.size()) && matcher.next(begin, end); done = end) {
    if (!isEnd && begin >= matcher.settledEnd())
      break;
    out.append(text, done, begin - done).append(section.text(op.text));
  }
  state.count = isEnd ? text.size() : matcher.settledEnd();
  if (matcher.gaveUp() || limits.tooLong) {
    out.resize(outSize);
    done = first;
    state.count = text.size();
  }
  state.isAfter = done == state.count && done > first;
  out.append(text, done, state.count - done);
  size_t bytes = out.size() - outSize, growth = bytes - std::min(bytes, state.count - first);
  limits.bytes -= std::min(limits.bytes, growth);
}

// Other text follows what waits, which somebody has shown, unless nothing of it shows: then it separates both.
void replacePart(const Section &section, const Op &op, TextLimits &limits, DecodeState &state, After after,
                 std::string &part, std::string &spare) {
  constexpr size_t context = 256;  // bytes for looks behind
  state.held += part;
  part.clear();
  replaceSettled(section, op, limits, state, after == After::Nothing, part);
  if (after == After::OtherText) {
    DecodeState shown = state;
    spare.clear();
    replaceSettled(section, op, limits, shown, true, spare);
    if (!spare.empty())
      state = shown;
  }
  size_t forgotten = state.count > 2 * context ? previousAt(state.held, state.count - context) : 0;
  state.held.erase(0, forgotten);
  state.count -= forgotten;
}

// Decoders that change every token on its own.
void decodeToken(const Section &section, const Op &op, TextLimits &limits, DecodeScratch &scratch, std::string &token,
                 size_t index) {
  std::string_view text = section.text(op.text);
  switch (static_cast<DecodeOp>(op.kind)) {
  case DecodeOp::Replace:
    return replacePattern(section, op, limits, token, scratch.text);
  case DecodeOp::Strip:
    return stripToken(token, text, op.a, op.b);
  case DecodeOp::Metaspace:
    return replaceAll(token, text, index == 0 && op.a ? "" : " ", scratch.text);
  case DecodeOp::WordPiece:
    return decodeWordPiece(token, index, text, op.a, scratch.text);
  default:
    return;
  }
}

size_t totalSize(const TextList &tokens) {
  size_t size = 0;
  for (size_t i = 0; i < tokens.size(); ++i)
    size += tokens[i].size();
  return size;
}

// After these a text is one token.
bool joins(const Op &op) {
  auto kind = static_cast<DecodeOp>(op.kind);
  return kind == DecodeOp::ByteLevel || kind == DecodeOp::Fuse || kind == DecodeOp::Join;
}

// Runs one decoder after another on the tokens that have come.
class DecoderRun {
public:
  DecoderRun(const Section &section, DecodeScratch &scratch, After after)
      : section(section), scratch(scratch), limits(TextLimits::of(totalSize(scratch.tokens))), after(after),
        isEnd(after == After::Nothing) {}

  void apply(const Op &op, DecodeState &state) {
    limits.beginOperation(totalSize(scratch.tokens) + state.held.size());
    if (isJoined)
      applyToPart(op, state);
    else
      applyToTokens(op, state);
    isJoined |= joins(op);
  }

private:
  const Section &section;
  DecodeScratch &scratch;
  TextLimits limits;
  const After after;
  const bool isEnd;
  bool isJoined = false;  // the text is one token by now, whose next part the list has

  void applyToTokens(const Op &op, DecodeState &state);
  void applyToPart(const Op &op, DecodeState &state);
};

void DecoderRun::applyToTokens(const Op &op, DecodeState &state) {
  std::string_view text = section.text(op.text);
  switch (static_cast<DecodeOp>(op.kind)) {
  case DecodeOp::ByteLevel:
    return decodeByteLevel(scratch, state, isEnd);
  case DecodeOp::ByteFallback:
    return decodeByteFallback(scratch, state, after);
  case DecodeOp::Fuse:
  case DecodeOp::Join:
    return fuse(scratch, state, text);
  case DecodeOp::Ctc:
    return decodeCtc(scratch, state, text, section.text(op.other), op.a);
  case DecodeOp::Suffix:
    return decodeSuffix(scratch, state, text, &op + 1 == section.decoders.end(), isEnd);
  default:
    for (size_t i = 0; i < scratch.tokens.size(); ++i)
      decodeToken(section, op, limits, scratch, scratch.tokens[i], state.count++);
  }
}

void DecoderRun::applyToPart(const Op &op, DecodeState &state) {
  std::string &part = scratch.tokens.size() > 0 ? scratch.tokens[0] : scratch.tokens.add();
  switch (static_cast<DecodeOp>(op.kind)) {
  case DecodeOp::Fuse:
  case DecodeOp::Join:
    return;
  case DecodeOp::Strip:
    return stripPart(part, state, op, section.text(op.text), isEnd);
  case DecodeOp::Metaspace:
    return decodeToken(section, op, limits, scratch, part, 0);
  case DecodeOp::Replace:
    return replacePart(section, op, limits, state, after, part, scratch.text);
  default:  // no tokenizer is known that has one of the others here: they get the text when it is complete
    state.held += part;
    part.clear();
    if (after == After::OtherText)
      state.held.clear();
    if (!isEnd)
      return;
    part.swap(state.held);
    applyToTokens(op, state);
    fuse(scratch, state, "");
  }
}

}  // namespace

void decodeTokens(const Section &section, std::vector<DecodeState> &states, After after, DecodeScratch &scratch,
                  std::string &text) {
  DecoderRun run(section, scratch, after);
  for (size_t i = 0; i < section.decoders.count; ++i)
    run.apply(section.decoders[i], states[i]);
  join(scratch.tokens, "", text);
}

}  // namespace talc::tokenizer
