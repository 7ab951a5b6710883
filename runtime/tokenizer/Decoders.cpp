// SPDX-License-Identifier: Apache-2.0
// The decoders of tokenizer.json; each maps a list of token texts to a list of texts.
#include "runtime/tokenizer/Decoders.h"
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace talc::tokenizer {
namespace {

using Tokens = std::vector<std::string>;
constexpr const char *replacement = "\xEF\xBF\xBD";  // U+FFFD

std::string replaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty())
    return std::string(text);
  size_t done = 0;
  for (size_t at; (at = text.find(from, done)) != std::string_view::npos; done = at + from.size())
    out.append(text.substr(done, at - done)).append(to);
  return out.append(text.substr(done));
}

// How many bytes one U+FFFD stands for: the longest part that could begin a character (Unicode, section 3.9).
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

std::string makeValid(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size();) {
    size_t length = validSequence(bytes.substr(i));
    if (length > 0)
      out += bytes.substr(i, length);
    else
      out += replacement, length = invalidLength(bytes.substr(i));
    i += length;
  }
  return out;
}

// The bytes that a token of the byte-level alphabet stands for; other tokens are taken as they are.
std::string bytesOf(const std::string &token) {
  std::string out;
  for (size_t i = 0; i < token.size();) {
    int byte = byteOfCharacter(decodeAt(token, i));
    if (byte < 0)
      return token;
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

Tokens decodeByteLevel(const Tokens &tokens) {
  std::string bytes;
  for (const std::string &token : tokens)
    bytes += bytesOf(token);
  return {makeValid(bytes)};
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

Tokens decodeByteFallback(Tokens tokens) {
  Tokens out;
  std::string bytes;
  auto flush = [&] {
    if (findInvalid(bytes) == std::string_view::npos && !bytes.empty())
      out.push_back(bytes);
    else
      out.insert(out.end(), bytes.size(), replacement);
    bytes.clear();
  };
  for (std::string &token : tokens) {
    int byte = byteToken(token);
    if (byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
      continue;
    }
    flush();
    out.push_back(std::move(token));
  }
  flush();
  return out;
}

std::string join(const Tokens &tokens, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < tokens.size(); ++i)
    out.append(i == 0 ? std::string_view() : separator).append(tokens[i]);
  return out;
}

std::string stripToken(std::string_view token, std::string_view content, uint32_t start, uint32_t stop) {
  if (content.empty())
    return std::string(token);
  for (; start > 0 && token.substr(0, content.size()) == content; --start)
    token.remove_prefix(content.size());
  auto endsWithContent = [&] {
    return token.size() >= content.size() && token.substr(token.size() - content.size()) == content;
  };
  for (; stop > 0 && endsWithContent(); --stop)
    token.remove_suffix(content.size());
  return std::string(token);
}

// English contractions and punctuation as BERT's detokenizer writes them.
std::string cleanUp(std::string text) {
  constexpr const char *rules[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto &rule : rules)
    text = replaceAll(text, rule[0], rule[1]);
  return text;
}

std::string decodeWordPiece(std::string token, size_t index, std::string_view prefix, bool cleanup) {
  bool continues = std::string_view(token).substr(0, prefix.size()) == prefix;
  if (index > 0)
    token = continues ? token.substr(prefix.size()) : " " + token;
  return cleanup ? cleanUp(std::move(token)) : token;
}

Tokens decodeCtc(const Tokens &tokens, std::string_view pad, std::string_view delimiter, bool cleanup) {
  Tokens out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && tokens[i] == tokens[i - 1])
      continue;
    std::string text = replaceAll(tokens[i], pad, "");
    if (cleanup)
      text = replaceAll(cleanUp(std::move(text)), delimiter, " ");
    if (!text.empty())
      out.push_back(std::move(text));
  }
  return out;
}

// A replacement beyond the limits leaves a token as it is: decoding cannot fail.
std::string decodeToken(const Section &section, const Op &op, TextLimits &limits, std::string &token, size_t index,
                        bool last) {
  std::string_view text = section.text(op.text);
  switch (static_cast<DecodeOp>(op.kind)) {
  case DecodeOp::Replace: {
    std::string out;
    if (!replaceMatches(section, op.a, token, text, limits, out) || !limits.admits(out.size()))
      return token;
    limits.bytes -= out.size() - std::min(out.size(), token.size());
    return out;
  }
  case DecodeOp::Strip:
    return stripToken(token, text, op.a, op.b);
  case DecodeOp::Metaspace:
    return replaceAll(token, text, index == 0 && op.a ? "" : " ");
  case DecodeOp::WordPiece:
    return decodeWordPiece(std::move(token), index, text, op.a);
  case DecodeOp::Suffix:
    return replaceAll(token, text, last ? "" : " ");
  default:
    return std::move(token);
  }
}

size_t sizeOf(const Tokens &tokens) {
  size_t size = 0;
  for (const std::string &token : tokens)
    size += token.size();
  return size;
}

Tokens apply(const Section &section, const Op &op, TextLimits &limits, Tokens tokens) {
  switch (static_cast<DecodeOp>(op.kind)) {
  case DecodeOp::ByteLevel:
    return decodeByteLevel(tokens);
  case DecodeOp::ByteFallback:
    return decodeByteFallback(std::move(tokens));
  case DecodeOp::Fuse:
    return {join(tokens, "")};
  case DecodeOp::Join:
    return {join(tokens, section.text(op.text))};
  case DecodeOp::Ctc:
    return decodeCtc(tokens, section.text(op.text), section.text(op.other), op.a);
  default:
    limits.beginOperation(sizeOf(tokens));
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = decodeToken(section, op, limits, tokens[i], i, i + 1 == tokens.size());
    return tokens;
  }
}

}  // namespace

std::string decodeTokens(const Section &section, std::vector<std::string> tokens) {
  TextLimits limits = TextLimits::of(sizeOf(tokens));
  for (const Op &op : section.decoders)
    tokens = apply(section, op, limits, std::move(tokens));
  return join(tokens, "");
}

}  // namespace talc::tokenizer
