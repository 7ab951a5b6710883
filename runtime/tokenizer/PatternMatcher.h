// SPDX-License-Identifier: Apache-2.0
// Finds the matches of a compiled regular expression, leftmost first, alternatives in order (Oniguruma's semantics).
#pragma once

#include "runtime/tokenizer/Section.h"

#include <vector>

namespace talc::tokenizer {

// A backtracking matcher that stays near linear time. Two guards: a run of one character set all ends of which were
// tried without success is remembered, so that `\s*\n` does not scan a megabyte of spaces once per space; and the
// number of steps is limited in proportion to the text (TextLimits), so that no pattern can hang.
class PatternMatcher {
public:
  // All must outlive the matcher; `text` is UTF-8. `steps`: those that are left, of all matchers of a text.
  PatternMatcher(const Section &section, uint32_t pattern, std::string_view text, uint64_t &steps);
  // Goes on at `from` with a text that has grown; `afterMatch`: the last match ended there.
  void resume(size_t from, bool afterMatch);

  // Finds the next match [begin, end). An empty match directly after the previous match is skipped.
  bool next(size_t &begin, size_t &end);
  // True when the step limit ended the search: the matches so far are not all.
  bool gaveUp() const { return exhausted; }
  // Matches that begin before this place are the same whatever follows the text; at least where the search is.
  size_t settledEnd() const { return unsettledFrom < text.size() ? unsettledFrom : text.size(); }

private:
  // The next thing to try when the current path fails.
  struct Frame {
    enum Kind : uint32_t { Retry, Shrink, Grow } kind;
    uint32_t pc;
    size_t position;  // where to go on (Retry), or the end of the run
    size_t start;     // of the run
    size_t low;       // Shrink: its shortest end. Grow: how many characters it may still take
    size_t end;       // Shrink: its longest end
  };
  // A run that starts in [start, end] fails, since the one from `start` to `end` has failed with all ends that are
  // tried.
  struct FailedRun {
    size_t start = 1, end = 0;
  };

  const Section &section;
  Array<Instruction> code;
  std::string_view text;
  std::vector<Frame> frames;
  std::vector<FailedRun> failedRuns;  // per instruction; empty until a long run fails
  size_t searchFrom = 0;
  size_t lastEnd = std::string_view::npos;
  size_t unsettledFrom = std::string_view::npos;  // the first place where a match was tried that saw the text's end
  bool sawEnd = false;
  uint64_t &stepsLeft;
  uint32_t depth = 0;
  bool exhausted = false;

  bool run(uint32_t pc, size_t position, size_t &end);
  bool step(uint32_t &pc, size_t &position);
  bool backtrack(size_t base, uint32_t &pc, size_t &position);
  bool enterSpan(uint32_t &pc, size_t &position);
  bool enterBody(uint32_t &pc, size_t &position);
  bool matchBehind(uint32_t pc, size_t position, uint32_t characters);
  bool holds(Match assertion, uint32_t set, size_t position);
  bool atBoundary(uint32_t set, size_t position) const;
  bool takeCharacter(uint32_t set, size_t &position);
  bool hasFailed(uint32_t pc, size_t position) const;
  void noteFailure(const Frame &frame);
};

}  // namespace talc::tokenizer
