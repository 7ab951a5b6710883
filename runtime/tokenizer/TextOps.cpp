// SPDX-License-Identifier: Apache-2.0
// The operations on pieces. A rewriting operation copies all pieces to a new buffer; a splitting one moves borders
// only.
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/PatternMatcher.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace talc::tokenizer {
namespace {

bool isPrintableByte(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

void appendMapped(const Section &section, const CharMapping &mapping, uint32_t codePoint, std::string &out) {
  switch (static_cast<MapKind>(mapping.kind)) {
  case MapKind::Delete:
    return;
  case MapKind::Constant:
    return appendUtf8(out, std::min(mapping.value, 0x10FFFFu));
  case MapKind::Shift:
    return appendUtf8(out, std::min(codePoint + mapping.value, 0x10FFFFu));
  case MapKind::Surround:
    out += ' ';
    appendUtf8(out, codePoint);
    out += ' ';
    return;
  case MapKind::Expand:
    out += section.text(section.expansions[mapping.value]);
    return;
  }
}

bool mapCharacters(const Section &section, const CharMap &map, std::string_view text, TextLimits &limits,
                   std::string &out) {
  Array<CharMapping> mappings{section.mappings.items + map.firstMapping, map.mappingCount};
  for (size_t i = 0; i < text.size() && limits.admits(out.size());) {
    size_t begin = i;
    uint32_t codePoint = decodeAt(text, i);
    if (const CharMapping *mapping = findRange(mappings, codePoint))
      appendMapped(section, *mapping, codePoint, out);
    else
      out += text.substr(begin, i - begin);
  }
  return !limits.tooLong;
}

std::string_view strip(const Section &section, const Op &op, std::string_view text) {
  size_t begin = 0, end = text.size();
  for (size_t next = 0; op.a & 1 && begin < end; begin = next)
    if (!section.contains(op.b, decodeAt(text, next)))
      break;
  while (op.a & 2 && begin < end) {
    size_t last = previousAt(text, end), at = last;
    if (!section.contains(op.b, decodeAt(text, at)))
      break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

// Appends what becomes of one piece. False: a limit was reached.
bool rewrite(const Section &section, const Op &op, std::string_view text, bool first, TextLimits &limits,
             std::string &out) {
  std::string_view argument = section.text(op.text);
  switch (static_cast<TextOp>(op.kind)) {
  case TextOp::Prepend:
    out.append(argument).append(text);
    return true;
  case TextOp::PrependUnless:
    if ((op.a == 0 || first) && text.substr(0, argument.size()) != argument)
      out += argument;
    out += text;
    return true;
  case TextOp::Replace:
    return replaceMatches(section, op.a, text, argument, limits, out);
  case TextOp::MapChars:
    return mapCharacters(section, section.maps[op.a], text, limits, out);
  case TextOp::Normalize:
    appendNormalized(section, static_cast<NormalForm>(op.a), text, out);
    return true;
  case TextOp::Strip:
    out += strip(section, op, text);
    return true;
  case TextOp::MapBytes:
    for (char c : text)
      appendByteCharacter(out, static_cast<unsigned char>(c));
    return true;
  case TextOp::Charsmap:
    return op.b == 1 ? applyLongestRules(section, op.a, text, limits, out)
                     : applyCharsmap(section, op.a, text, limits, out);
  default:
    return true;
  }
}

bool isSplit(uint32_t kind) {
  auto op = static_cast<TextOp>(kind);
  return op == TextOp::Split || op == TextOp::SplitLength || op == TextOp::SplitScripts;
}

bool rewriteAll(const Section &section, const Op &op, TextPieces &pieces, TextLimits &limits) {
  std::string out;
  out.reserve(pieces.buffer.size());
  for (Piece &piece : pieces.list) {
    size_t begin = out.size();
    bool isText = piece.id == none;
    if (isText && !(rewrite(section, op, pieces.text(piece), piece.first, limits, out) && limits.admits(out.size())))
      return false;
    piece.begin = begin;
    piece.end = out.size();
  }
  pieces.buffer = std::move(out);
  auto isEmpty = [](const Piece &piece) { return piece.id == none && piece.begin == piece.end; };
  pieces.list.erase(std::remove_if(pieces.list.begin(), pieces.list.end(), isEmpty), pieces.list.end());
  return true;
}

}  // namespace

void appendByteCharacter(std::string &out, unsigned char byte) {
  if (isPrintableByte(byte))
    return appendUtf8(out, byte);
  uint32_t shifted = byte <= 0x20 ? byte : byte == 0xAD ? 67 : byte - 0x7F + 33;
  appendUtf8(out, 0x100 + shifted);
}

int byteOfCharacter(uint32_t codePoint) {
  if (isPrintableByte(codePoint))
    return static_cast<int>(codePoint);
  if (codePoint < 0x100 || codePoint > 0x143)
    return -1;
  uint32_t shifted = codePoint - 0x100;
  return static_cast<int>(shifted <= 0x20 ? shifted : shifted == 67 ? 0xAD : shifted - 33 + 0x7F);
}

bool replaceMatches(const Section &section, uint32_t pattern, std::string_view text, std::string_view by,
                    TextLimits &limits, std::string &out) {
  PatternMatcher matcher(section, pattern, text, limits.steps);
  size_t begin = 0, end = 0, done = 0;
  while (limits.admits(out.size()) && matcher.next(begin, end)) {
    out.append(text.substr(done, begin - done)).append(by);
    done = end;
  }
  out += text.substr(done);
  return !matcher.gaveUp() && !limits.tooLong;
}

bool applyTextOps(const Section &section, Array<Op> ops, TextPieces &pieces, TextLimits &limits, std::string &error) {
  for (const Op &op : ops) {
    limits.beginOperation(pieces.buffer.size());
    if (isSplit(op.kind) ? splitAll(section, op, pieces, limits) : rewriteAll(section, op, pieces, limits))
      continue;
    error = limits.tooLong
                ? "error[T0326]: text: the normalizers of the tokenizer make more than " +
                      std::to_string(limits.bytes) + " bytes of this text; is the tokenizer damaged?"
                : "error[T0323]: text: a pattern of the tokenizer needs too many steps on this text; split the text";
    return false;
  }
  return true;
}

}  // namespace talc::tokenizer
