// SPDX-License-Identifier: Apache-2.0
// Texts of requests that have ended, whose tokens stay in their slots: a prompt that begins like one of them goes on
// there.
//
//   kept           slot 2: a b c d e f
//   prompt         a b c d x y            slot 2 is truncated to a b c d, and only x y are evaluated
//
// No bit depends on how a text is cut into steps, so none depends on what is found here.
#pragma once

#include "runtime/session/Session.h"

#include <cstdint>
#include <list>
#include <vector>

namespace talc {

class PrefixCache {
public:
  // Keeps at most `capacity` texts in slots of `session`.
  PrefixCache(Session &session, size_t capacity) : session(session), capacity(capacity) {}

  // Tokens that were found for a prompt; `slot` -1: none.
  struct Found {
    int32_t slot = -1;
    size_t tokens = 0;
  };

  // Keeps the slot of an ended text, which holds these tokens. Returns the slot of the text that was used least
  // recently, or the given one, if there is no room; it is empty then. Else -1.
  int32_t keep(int32_t slot, std::vector<int32_t> ids);
  // Gives away the slot whose text begins most like `ids`, truncated to what both have; `ids` has more than that.
  Found take(const std::vector<int32_t> &ids);
  // Empties and gives away the slot that was used least recently; there is one.
  int32_t evict();

  bool keepsTexts() const { return capacity > 0; }
  size_t size() const { return texts.size(); }
  // Whether every slot holds its text.
  bool isIntact() const;

private:
  struct Text {
    int32_t slot;
    std::vector<int32_t> ids;
  };

  Session &session;
  const size_t capacity;
  std::list<Text> texts;  // the most recently used first
};

}  // namespace talc
