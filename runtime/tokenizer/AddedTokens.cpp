// SPDX-License-Identifier: Apache-2.0
// Added tokens: a search with the single-word and whitespace rules of tokenizer.json.
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace talc::tokenizer {
namespace {

class Extractor {
public:
  Extractor(const Section &section, const TokenSpellings &spellings, bool parseSpecial)
      : section(section), spellings(spellings), parseSpecial(parseSpecial) {}

  void run(std::string_view text, const Piece &piece, std::vector<Piece> &out) const {
    auto add = [&](size_t begin, size_t end, uint32_t id) {
      if (begin < end)
        out.push_back({piece.begin + begin, piece.begin + end, id, piece.first && begin == 0});
    };
    size_t done = 0;
    for (size_t i = 0; i < text.size();) {
      size_t length = 0;
      uint32_t id = spellings.findLongest(text.substr(i), length);
      if (id == none) {
        i += sequenceLength(text[i]);
        continue;
      }
      size_t begin = i, end = i + length;
      i = end;
      if (!accepts(text, section.tokens[id], begin, end))
        continue;
      if (section.tokens[id].flags & tokenStripLeft)
        begin = skipLeft(text, done, begin);
      if (section.tokens[id].flags & tokenStripRight)
        end = skipRight(text, end);
      add(done, begin, none);
      add(begin, end, id);
      done = end;
    }
    add(done, text.size(), none);
  }

private:
  const Section &section;
  const TokenSpellings &spellings;
  bool parseSpecial;

  bool isWord(std::string_view text, size_t at) const {
    uint32_t set = section.header->wordCharacters;
    return set != none && section.contains(set, decodeAt(text, at));
  }

  bool accepts(std::string_view text, const Token &token, size_t begin, size_t end) const {
    if (token.flags & tokenSpecial && !parseSpecial)
      return false;
    if (!(token.flags & tokenSingleWord))
      return true;
    bool wordBefore = begin > 0 && isWord(text, previousAt(text, begin));
    bool wordAfter = end < text.size() && isWord(text, end);
    return !wordBefore && !wordAfter;
  }

  bool isSpace(std::string_view text, size_t at) const {
    return section.contains(section.header->whitespace, decodeAt(text, at));
  }

  // Moves over whitespace to the left, but not beyond `limit`, where the previous match ends.
  size_t skipLeft(std::string_view text, size_t limit, size_t begin) const {
    while (begin > limit && isSpace(text, previousAt(text, begin)))
      begin = previousAt(text, begin);
    return begin;
  }

  size_t skipRight(std::string_view text, size_t end) const {
    while (end < text.size() && isSpace(text, end))
      end += sequenceLength(text[end]);
    return end;
  }
};

void extract(const Section &section, const TokenSpellings &spellings, bool parseSpecial, TextPieces &pieces) {
  if (spellings.empty())
    return;
  Extractor extractor(section, spellings, parseSpecial);
  std::vector<Piece> result;
  for (const Piece &piece : pieces.list) {
    if (piece.id == none)
      extractor.run(pieces.text(piece), piece, result);
    else
      result.push_back(piece);
  }
  pieces.list = std::move(result);
}

}  // namespace

void TokenSpellings::finish() {
  auto before = [](const Entry &l, const Entry &r) {
    return l.spelling != r.spelling ? l.spelling < r.spelling : l.id < r.id;
  };
  std::sort(sorted.begin(), sorted.end(), before);
  for (const Entry &entry : sorted)
    ++byFirstByte[static_cast<unsigned char>(entry.spelling[0]) + 1];
  for (size_t b = 1; b < byFirstByte.size(); ++b)
    byFirstByte[b] += byFirstByte[b - 1];
}

uint32_t TokenSpellings::findLongest(std::string_view text, size_t &length) const {
  auto first = static_cast<unsigned char>(text[0]);
  auto low = sorted.begin() + static_cast<ptrdiff_t>(byFirstByte[first]);
  auto high = sorted.begin() + static_cast<ptrdiff_t>(byFirstByte[first + 1]);
  uint32_t match = none;
  // Entries [low, high) agree with the text in `depth` bytes; the shortest of them comes first.
  for (size_t depth = 1; low != high; ++depth) {
    if (low->spelling.size() == depth)
      match = low->id, length = depth;
    if (depth == text.size())
      break;
    auto byteAt = [&](const Entry &e) {
      return depth < e.spelling.size() ? static_cast<unsigned char>(e.spelling[depth]) : -1;
    };
    int byte = static_cast<unsigned char>(text[depth]);
    low = std::partition_point(low, high, [&](const Entry &e) { return byteAt(e) < byte; });
    high = std::partition_point(low, high, [&](const Entry &e) { return byteAt(e) == byte; });
  }
  return match;
}

// All spellings together have the limits of one text.
bool AddedTokens::build(const Section &section, std::string &error) {
  TextLimits limits = TextLimits::of(0);
  for (uint32_t id = 0; id < section.tokens.count; ++id) {
    const Token &token = section.tokens[id];
    if (!(token.flags & tokenAdded) || token.text.size == 0)
      continue;
    std::string spelling(section.text(token.text));
    if (!(token.flags & tokenNormalized)) {
      raw.add(std::move(spelling), id);
      continue;
    }
    TextPieces pieces{spelling, {{0, spelling.size(), none, true}}};
    limits.bytes += TextLimits::bytesPerByte * spelling.size();
    if (!applyTextOps(section, section.normalizers, pieces, limits, error))
      return false;
    limits.bytes -= std::min(limits.bytes, pieces.buffer.size());
    std::string text = pieces.list.empty() ? std::string() : std::string(pieces.text(pieces.list[0]));
    if (text != spelling)
      normalizedTexts[id] = text;
    if (!text.empty())
      normalized.add(std::move(text), id);
  }
  raw.finish();
  normalized.finish();
  return true;
}

void AddedTokens::extractRaw(const Section &section, bool parseSpecial, TextPieces &pieces) const {
  extract(section, raw, parseSpecial, pieces);
}

void AddedTokens::extractNormalized(const Section &section, bool parseSpecial, TextPieces &pieces) const {
  extract(section, normalized, parseSpecial, pieces);
}

std::string_view AddedTokens::decodedText(const Section &section, uint32_t id) const {
  auto at = normalizedTexts.find(id);
  return at != normalizedTexts.end() ? std::string_view(at->second) : section.text(section.tokens[id].text);
}

}  // namespace talc::tokenizer
