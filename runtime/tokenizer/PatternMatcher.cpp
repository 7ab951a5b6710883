// SPDX-License-Identifier: Apache-2.0
// The backtracking matcher: an instruction loop with an explicit stack of alternatives; only looks and atomic groups
// recurse, and those no deeper than maxPatternDepth.
#include "runtime/tokenizer/PatternMatcher.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace talc::tokenizer {

namespace {
constexpr size_t longRun = 32;  // bytes; shorter failures are not worth remembering
constexpr size_t maxFrames = size_t(1) << 22;
}  // namespace

PatternMatcher::PatternMatcher(const Section &section, uint32_t pattern, std::string_view text, uint64_t &steps)
    : section(section), text(text), stepsLeft(steps) {
  const Pattern &p = section.patterns[pattern];
  code = {section.instructions.items + p.firstInstruction, p.instructionCount};
}

void PatternMatcher::resume(size_t from, bool afterMatch) {
  searchFrom = from;
  lastEnd = afterMatch ? from : std::string_view::npos;
}

bool PatternMatcher::next(size_t &begin, size_t &end) {
  for (; searchFrom <= text.size() && !exhausted; searchFrom += sequenceLength(text[searchFrom])) {
    sawEnd = false;
    bool matches = run(0, searchFrom, end);
    if (sawEnd)
      unsettledFrom = std::min(unsettledFrom, searchFrom);
    if (matches && !(end == searchFrom && end == lastEnd)) {
      begin = searchFrom;
      lastEnd = searchFrom = end;
      return true;
    }
    if (searchFrom == text.size())
      break;
  }
  searchFrom = text.size() + 1;
  return false;
}

bool PatternMatcher::run(uint32_t pc, size_t position, size_t &end) {
  size_t base = frames.size();
  bool matches = false;
  while (!exhausted) {
    if (stepsLeft == 0 || frames.size() > maxFrames) {
      exhausted = true;
    } else if (--stepsLeft; code[pc].match == uint32_t(Match::Accept)) {
      end = position;
      matches = true;
      break;
    } else if (!step(pc, position) && !backtrack(base, pc, position)) {
      break;
    }
  }
  frames.resize(base);
  return matches;
}

// One instruction. False: this path fails.
bool PatternMatcher::step(uint32_t &pc, size_t &position) {
  const Instruction &instruction = code[pc];
  auto match = static_cast<Match>(instruction.match);
  switch (match) {
  case Match::Set:
    ++pc;
    return takeCharacter(instruction.x, position);
  case Match::Span:
  case Match::LazySpan:
  case Match::PossessiveSpan:
    return enterSpan(pc, position);
  case Match::Split:
    frames.push_back({Frame::Retry, instruction.y, position, 0, 0, 0});
    pc = instruction.x;
    return true;
  case Match::Jump:
    pc = instruction.x;
    return true;
  case Match::Ahead:
  case Match::NotAhead:
  case Match::Behind:
  case Match::NotBehind:
  case Match::Atomic:
    return enterBody(pc, position);
  default:
    ++pc;
    return holds(match, instruction.x, position);
  }
}

// Takes the most recent alternative. False: none is left above `base`.
bool PatternMatcher::backtrack(size_t base, uint32_t &pc, size_t &position) {
  while (frames.size() > base) {
    Frame &frame = frames.back();
    if (frame.kind == Frame::Retry) {
      pc = frame.pc;
      position = frame.position;
      frames.pop_back();
      return true;
    }
    pc = frame.pc + 1;
    if (frame.kind == Frame::Shrink && frame.position > frame.low) {
      position = frame.position = previousAt(text, frame.position);
      return true;
    }
    if (frame.kind == Frame::Grow && frame.low > 0 && takeCharacter(code[frame.pc].x, frame.position)) {
      --frame.low;
      position = frame.position;
      return true;
    }
    noteFailure(frame);
    frames.pop_back();
  }
  return false;
}

bool PatternMatcher::enterSpan(uint32_t &pc, size_t &position) {
  const Instruction &span = code[pc];
  auto match = static_cast<Match>(span.match);
  if (hasFailed(pc, position))
    return false;
  size_t start = position, low = position, taken = 0;
  size_t count = match == Match::LazySpan ? span.y : span.z;
  for (; taken < count && takeCharacter(span.x, position); ++taken)
    if (taken + 1 <= span.y)
      low = position;
  stepsLeft -= std::min<uint64_t>(taken, stepsLeft);
  if (taken < span.y)
    return false;
  if (match == Match::LazySpan && span.z > span.y)
    frames.push_back({Frame::Grow, pc, position, start, span.z == unlimited ? SIZE_MAX : span.z - span.y, 0});
  else if (match == Match::Span && position > low)
    frames.push_back({Frame::Shrink, pc, position, start, low, position});
  else if (match == Match::PossessiveSpan && position - start >= longRun)
    frames.push_back({Frame::Shrink, pc, position, start, position, position});
  ++pc;
  return true;
}

// Looks and atomic groups: their body is matched on its own.
bool PatternMatcher::enterBody(uint32_t &pc, size_t &position) {
  const Instruction &group = code[pc];
  auto match = static_cast<Match>(group.match);
  if (++depth > maxPatternDepth)
    exhausted = true;
  size_t end = position;
  bool isBehind = match == Match::Behind || match == Match::NotBehind;
  bool matches = !exhausted && (isBehind ? matchBehind(pc, position, group.z) : run(pc + 1, position, end));
  --depth;
  pc = group.x;
  if (match == Match::Atomic)
    position = end;
  return matches != (match == Match::NotAhead || match == Match::NotBehind) && !exhausted;
}

bool PatternMatcher::matchBehind(uint32_t pc, size_t position, uint32_t characters) {
  size_t start = position, end = 0;
  for (; characters > 0 && start > 0; --characters)
    start = previousAt(text, start);
  return characters == 0 && run(pc + 1, start, end);
}

bool PatternMatcher::holds(Match assertion, uint32_t set, size_t position) {
  bool atEnd = position == text.size();
  size_t neededEnd = position + (assertion == Match::TextEndNewline ? 1 : 0);
  sawEnd |= assertion != Match::TextBegin && neededEnd >= text.size();
  switch (assertion) {
  case Match::LineBegin:
    return position == 0 || (text[position - 1] == '\n' && !atEnd);
  case Match::LineEnd:
    return atEnd || text[position] == '\n';
  case Match::TextBegin:
    return position == 0;
  case Match::TextEnd:
    return atEnd;
  case Match::TextEndNewline:
    return atEnd || (position + 1 == text.size() && text[position] == '\n');
  case Match::WordBoundary:
    return atBoundary(set, position);
  case Match::NotWordBoundary:
    return !atBoundary(set, position);
  default:
    return false;
  }
}

bool PatternMatcher::atBoundary(uint32_t set, size_t position) const {
  auto isWord = [&](size_t at) { return section.contains(set, decodeAt(text, at)); };
  bool before = position > 0 && isWord(previousAt(text, position));
  bool after = position < text.size() && isWord(position);
  return before != after;
}

bool PatternMatcher::takeCharacter(uint32_t set, size_t &position) {
  if (position == text.size()) {
    sawEnd = true;
    return false;
  }
  size_t after = position;
  if (!section.contains(set, decodeAt(text, after)))
    return false;
  position = after;
  return true;
}

// A run of the same set that starts inside a failed one ends where that one ended, and its ends are among those tried.
bool PatternMatcher::hasFailed(uint32_t pc, size_t position) const {
  if (failedRuns.empty() || code[pc].z != unlimited)
    return false;
  return failedRuns[pc].start <= position && position <= failedRuns[pc].end;
}

void PatternMatcher::noteFailure(const Frame &frame) {
  size_t end = frame.kind == Frame::Grow ? frame.position : frame.end;
  if (end - frame.start < longRun || exhausted)
    return;
  if (failedRuns.empty())
    failedRuns.resize(code.count);
  failedRuns[frame.pc] = {frame.start, end};
}

}  // namespace talc::tokenizer
