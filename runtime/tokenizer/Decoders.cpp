// SPDX-License-Identifier: Apache-2.0
// The decoders of tokenizer.json; each maps a list of token texts to a list of texts.
#include "runtime/tokenizer/Decoders.h"
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

void appendValid(std::string_view bytes, std::string &out) {
  for (size_t i = 0; i < bytes.size();) {
    size_t length = validSequence(bytes.substr(i));
    if (length > 0)
      out += bytes.substr(i, length);
    else
      out += replacement, length = invalidLength(bytes.substr(i));
    i += length;
  }
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

void decodeByteLevel(DecodeScratch &scratch) {
  scratch.text.clear();
  for (size_t i = 0; i < scratch.tokens.size(); ++i)
    appendBytes(scratch.tokens[i], scratch.text);
  scratch.tokens.clear();
  appendValid(scratch.text, scratch.tokens.add());
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

void decodeByteFallback(DecodeScratch &scratch) {
  std::string &bytes = scratch.text;
  bytes.clear();
  scratch.next.clear();
  for (size_t i = 0; i < scratch.tokens.size(); ++i) {
    int byte = byteToken(scratch.tokens[i]);
    if (byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
      continue;
    }
    flushBytes(bytes, scratch.next);
    scratch.next.add().swap(scratch.tokens[i]);
  }
  flushBytes(bytes, scratch.next);
  scratch.tokens.swap(scratch.next);
}

void join(const TextList &tokens, std::string_view separator, std::string &out) {
  out.clear();
  for (size_t i = 0; i < tokens.size(); ++i)
    out.append(i == 0 ? std::string_view() : separator).append(tokens[i]);
}

void fuse(DecodeScratch &scratch, std::string_view separator) {
  join(scratch.tokens, separator, scratch.text);
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

void decodeCtc(DecodeScratch &scratch, std::string_view pad, std::string_view delimiter, bool cleanup) {
  scratch.next.clear();
  for (size_t i = 0; i < scratch.tokens.size(); ++i) {
    if (i > 0 && scratch.tokens[i] == scratch.tokens[i - 1])
      continue;
    std::string text = scratch.tokens[i];
    replaceAll(text, pad, "", scratch.text);
    if (cleanup) {
      cleanUp(text, scratch.text);
      replaceAll(text, delimiter, " ", scratch.text);
    }
    if (!text.empty())
      scratch.next.add() = text;
  }
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

void decodeToken(const Section &section, const Op &op, TextLimits &limits, DecodeScratch &scratch, size_t index) {
  std::string_view text = section.text(op.text);
  std::string &token = scratch.tokens[index], &spare = scratch.text;
  bool last = index + 1 == scratch.tokens.size();
  switch (static_cast<DecodeOp>(op.kind)) {
  case DecodeOp::Replace:
    return replacePattern(section, op, limits, token, spare);
  case DecodeOp::Strip:
    return stripToken(token, text, op.a, op.b);
  case DecodeOp::Metaspace:
    return replaceAll(token, text, index == 0 && op.a ? "" : " ", spare);
  case DecodeOp::WordPiece:
    return decodeWordPiece(token, index, text, op.a, spare);
  case DecodeOp::Suffix:
    return replaceAll(token, text, last ? "" : " ", spare);
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

void apply(const Section &section, const Op &op, TextLimits &limits, DecodeScratch &scratch) {
  switch (static_cast<DecodeOp>(op.kind)) {
  case DecodeOp::ByteLevel:
    return decodeByteLevel(scratch);
  case DecodeOp::ByteFallback:
    return decodeByteFallback(scratch);
  case DecodeOp::Fuse:
    return fuse(scratch, "");
  case DecodeOp::Join:
    return fuse(scratch, section.text(op.text));
  case DecodeOp::Ctc:
    return decodeCtc(scratch, section.text(op.text), section.text(op.other), op.a);
  default:
    limits.beginOperation(totalSize(scratch.tokens));
    for (size_t i = 0; i < scratch.tokens.size(); ++i)
      decodeToken(section, op, limits, scratch, i);
  }
}

}  // namespace

void decodeTokens(const Section &section, DecodeScratch &scratch, std::string &text) {
  TextLimits limits = TextLimits::of(totalSize(scratch.tokens));
  for (const Op &op : section.decoders)
    apply(section, op, limits, scratch);
  join(scratch.tokens, "", text);
}

}  // namespace talc::tokenizer
