// SPDX-License-Identifier: Apache-2.0
// One text while it is continued token by token.
#pragma once

#include "runtime/Status.h"
#include "runtime/program/Handles.h"

#include <string>
#include <vector>

namespace talc::program {

enum class Ending { None, EndToken, Count, StateFull };

// How all texts of a run are continued.
struct SequenceRules {
  talc_sampling sampling;
  talc_search search;  // of it: what is forced or forbidden
  size_t limit;        // tokens at most, 0: none
  bool limitIsOfAll;   // they are those of the whole text, and every beginning has less; else the new ones
  size_t capacity;     // tokens that a state can hold
  bool ignoreEnd;      // go on after an end token
  bool makesText;      // the tokenizer turns new tokens into text
  bool streams;        // as they come; else when the text has ended

  // At most, after a beginning of this length.
  size_t newTokens(size_t beginning) const { return limitIsOfAll ? limit - beginning : limit; }
};

class Sequence {
public:
  // `hasContext`: the beginning is text that the new text follows, which decides about spaces.
  Status start(const talc_model *model, const SequenceRules &rules, std::vector<int32_t> beginning, bool hasContext);

  // Chooses the next token from the logits that follow the last one.
  Status extend(const float *logits);

  // Text that became complete since the last call.
  std::string takeText();

  // All tokens: the beginning and the new ones.
  const std::vector<int32_t> &tokens() const { return text; }
  size_t beginningLength() const { return beginning; }
  std::vector<int32_t> newTokens() const { return {text.begin() + beginning, text.end()}; }
  Ending ending() const { return end; }

  size_t evaluated = 0;  // tokens

private:
  Status createSampler();
  Status stream(int32_t id);
  Status finishStream();

  const talc_model *model = nullptr;
  const SequenceRules *rules = nullptr;
  std::vector<int32_t> text;
  size_t beginning = 0;
  Ending end = Ending::None;
  SamplerHandle sampler;
  TextStreamHandle words;
  std::string pending;
};

// The text of new tokens after others.
Status textOf(const talc_model *model, const std::vector<int32_t> &context, const int32_t *ids, size_t count,
              std::string &text);

}  // namespace talc::program
