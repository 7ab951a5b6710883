// SPDX-License-Identifier: Apache-2.0
// Evaluates the sources of an encoder-decoder in steps of bounded size.
#pragma once

#include "runtime/program/Handles.h"
#include "runtime/program/Prompts.h"

namespace talc::program {

class Sources {
public:
  explicit Sources(talc_session *session) : session(session) {}

  // Adds one for the next `encode`. The prompt must live until then.
  void add(const Prompt &prompt, int32_t slot);
  // Stores how many tokens there were.
  Status encode(size_t &tokens);

private:
  talc_session *session;
  std::vector<talc_sequence> waiting;
};

}  // namespace talc::program
