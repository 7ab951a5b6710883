// SPDX-License-Identifier: Apache-2.0
// Beam searches of several texts on one session: which tokens are evaluated in which slots, and how slots are
// reordered.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/sampling/BeamSearch.h"

#include <memory>

namespace talc {

// Built on the functions of talc.h, which documents it.
class SearchRun {
public:
  // The session has a slot for each beam of each text. Both must outlive the object.
  SearchRun(const Model &model, talc_session *session, const talc_search &settings, float repetitionPenalty,
            int32_t texts);

  Status start(const talc_beam_text &text);
  Status step(int32_t &running);
  // Ends a search and empties its slots.
  Status stop(int32_t text);

  int32_t textCount() const { return static_cast<int32_t>(texts.size()); }
  int32_t firstSlot(int32_t text) const { return text * beams; }
  bool runs(int32_t text) const { return texts[text].runs; }
  const BeamSearch &search(int32_t text) const { return texts[text].search; }

private:
  struct Text {
    Text(const BeamSettings &settings, const std::vector<int32_t> &choosable) : search(settings, choosable) {}

    BeamSearch search;
    std::vector<int32_t> prompt;
    size_t evaluated = 0;  // tokens of the prompt
    int32_t prefix = 0;
    bool runs = false;

    bool startsLater() const { return evaluated < prompt.size(); }
  };

  void collect();
  size_t collectPrompt(int32_t text, size_t room);
  void collectBeams(int32_t text);
  Status choose(int32_t text, size_t &sequence);
  void reorder(int32_t text);

  const Model &model;
  talc_session *const session;
  const int32_t beams, startToken;
  TokenScores scores;
  std::vector<Text> texts;
  std::vector<talc_sequence> sequences;  // of the step
  std::vector<const float *> rows;       // of a text
  std::vector<int32_t> slots, parents;
};

}  // namespace talc
