// SPDX-License-Identifier: Apache-2.0
// Splitting: a piece becomes alternating matches and gaps, which the behavior keeps, drops or merges.
#include "runtime/tokenizer/PatternMatcher.h"
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

namespace talc::tokenizer {
namespace {

// Bytes [begin, end) of a piece.
struct Part {
  size_t begin, end;
  bool isMatch;
};

bool findParts(const Section &section, const Op &op, std::string_view text, TextLimits &limits,
               std::vector<Part> &parts) {
  bool invert = op.b >= 16;
  PatternMatcher matcher(section, op.a, text, limits.steps);
  size_t begin = 0, end = 0, done = 0;
  while (matcher.next(begin, end)) {
    if (begin > done)
      parts.push_back({done, begin, invert});
    parts.push_back({begin, end, !invert});
    done = end;
  }
  if (done < text.size())
    parts.push_back({done, text.size(), invert});
  return !matcher.gaveUp();
}

// Joins a part to its left neighbor where `joins(isMatch of the left one, its own)`; the left one is the part just
// before, not the joined one.
template <typename Joins> void joinLeft(std::vector<Part> &parts, Joins joins) {
  size_t count = 0;
  bool previousIsMatch = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    Part part = parts[i];
    if (count > 0 && joins(previousIsMatch, part.isMatch))
      parts[count - 1].end = part.end;
    else
      parts[count++] = part;
    previousIsMatch = part.isMatch;
  }
  parts.resize(count);
}

// A match goes to the gap behind it, the last of several adjacent matches only.
void joinRight(std::vector<Part> &parts) {
  std::vector<Part> joined;
  for (const Part &part : parts) {
    bool afterMatch = !joined.empty() && joined.back().isMatch;
    if (afterMatch && !part.isMatch)
      joined.back() = {joined.back().begin, part.end, false};
    else
      joined.push_back(part);
  }
  parts = std::move(joined);
}

void applyBehavior(Behavior behavior, std::vector<Part> &parts) {
  switch (behavior) {
  case Behavior::Isolated:
    return;
  case Behavior::Removed: {
    size_t count = 0;
    for (const Part &part : parts)
      if (!part.isMatch)
        parts[count++] = part;
    parts.resize(count);
    return;
  }
  case Behavior::Contiguous:
    return joinLeft(parts, [](bool leftIsMatch, bool isMatch) { return leftIsMatch == isMatch; });
  case Behavior::MergedWithPrevious:
    return joinLeft(parts, [](bool leftIsMatch, bool isMatch) { return isMatch && !leftIsMatch; });
  case Behavior::MergedWithNext:
    return joinRight(parts);
  }
}

void splitLength(uint32_t length, std::string_view text, std::vector<Part> &parts) {
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    for (uint32_t i = 0; i < length && end < text.size(); ++i)
      end += sequenceLength(text[end]);
    parts.push_back({begin, end, false});
  }
}

// Characters of script 0 (spaces) stay with what is before them; before the first script there is nothing to stay with,
// and Hugging Face drops them.
void splitScripts(const Section &section, std::string_view text, std::vector<Part> &parts) {
  uint32_t last = none;
  size_t begin = 0;
  bool any = false;
  for (size_t i = 0; i < text.size();) {
    size_t at = i;
    const ValueRange *range = findRange(section.scripts, decodeAt(text, i));
    uint32_t script = range ? range->value : 0;
    if (script == 0 || (any && script == last))
      continue;
    if (any)
      parts.push_back({begin, at, false});
    begin = at;
    last = script;
    any = true;
  }
  if (any)
    parts.push_back({begin, text.size(), false});
}

}  // namespace

bool splitAll(const Section &section, const Op &op, TextPieces &pieces, TextLimits &limits) {
  std::vector<Piece> result;
  std::vector<Part> parts;
  bool complete = true;
  for (const Piece &piece : pieces.list) {
    if (piece.id != none) {
      result.push_back(piece);
      continue;
    }
    parts.clear();
    if (op.kind == uint32_t(TextOp::Split)) {
      complete = complete && findParts(section, op, pieces.text(piece), limits, parts);
      applyBehavior(static_cast<Behavior>(op.b % 16), parts);
    } else if (op.kind == uint32_t(TextOp::SplitLength)) {
      splitLength(op.a, pieces.text(piece), parts);
    } else {
      splitScripts(section, pieces.text(piece), parts);
    }
    for (const Part &part : parts)
      if (part.end > part.begin)
        result.push_back({piece.begin + part.begin, piece.begin + part.end, none, piece.first && part.begin == 0});
  }
  pieces.list = std::move(result);
  return complete;
}

}  // namespace talc::tokenizer
