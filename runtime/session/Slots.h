// SPDX-License-Identifier: Apache-2.0
// Prefix sharing: the tokens and sources that the slots of a session hold, and the memory of both.
//
// Reordering copies no memory: a sequence may continue tokens that lie in other slots.
//
//   before                      slot 0: a b    slot 1: a c
//   slots 0 1 from parents 1 1  slot 0: a c    slot 1: a c      both tokens of slot 0 are those in slot 1's memory;
//                                                               its next token goes to its own memory, at position 2
//
// Nothing that a sequence uses is ever overwritten: token p of any sequence lies at position p of some slot, a slot is
// written only at its own length, and only a reset lowers that length; its memory waits until no sequence uses it.
//
// In a ring a token overwrites one outside its own sequence's window. If other sequences still need that one, the step
// is refused (overwritesUsed).
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/device/Device.h"
#include "runtime/memory/Mapping.h"

#include <algorithm>
#include <vector>

namespace talc {

class Slots {
public:
  Slots() = default;
  // Both must outlive the object.
  Slots(const Model &model, Workspace &workspace, int32_t count);

  int32_t count() const { return static_cast<int32_t>(slots.size()); }
  int32_t length(int32_t slot) const { return slots[slot].length; }
  // The slot of the source that the sequence reads; -1: none.
  int32_t sourceSlot(int32_t slot) const { return slots[slot].source; }
  int32_t sourceLength(int32_t slot) const {
    return slots[slot].source < 0 ? 0 : slots[slots[slot].source].sourceTokens;
  }
  // Whether other slots use the memory of this one.
  bool isUsed(int32_t slot) const { return slots[slot].users > 0; }
  // Whether `tokens` more would overwrite, in rings, what another slot's next token needs.
  bool overwritesUsed(int32_t slot, int32_t tokens) const;
  // Whether a slot that is truncated to `length` would lack, in rings, what its next token needs.
  bool lostBefore(int32_t slot, int32_t length) const;
  // Whether the slot cannot be written: it was reset, but other slots still use its memory.
  bool isRetained(int32_t slot) const { return slots[slot].retained; }

  // See Step::history and Span::history.
  const int32_t *history() const { return reinterpret_cast<const int32_t *>(places.data()); }
  int32_t historyIndex(int32_t slot) const { return slots[slot].scattered ? slot * listedTokens() : -1; }
  // The length of all histories together.
  int64_t historyCount() const { return int64_t(count()) * listedTokens(); }
  // The capacity of a history: tokens of a sequence that was reordered.
  int32_t listedTokens() const { return std::min(static_cast<int32_t>(model->info().maxSequence), maxListed); }

  // Record what a step has done: appended tokens, left a source in a slot that was empty, or used a slot's memory.
  void appended(int32_t slot, int32_t tokens);
  // Records how many tokens a step that did not end may have written.
  void attempted(int32_t slot, int32_t tokens);
  void encoded(int32_t slot, int32_t tokens);
  void touched(int32_t slot, int32_t tokens);

  void reset(int32_t slot);
  // Whether another slot continues tokens that lie in this one from `length` on.
  bool isUsedFrom(int32_t slot, int32_t length) const;
  // Keeps the first `length` tokens; no sequence uses the others.
  void truncate(int32_t slot, int32_t length);
  // Succeeds or changes nothing; the rules are in talc.h.
  Status reorder(const int32_t *list, const int32_t *parents, int32_t listed);
  // Whether the histories of all slots can be counted.
  Status checkHistories() const;
  // Checks what reorder() checks of its arguments.
  Status checkReorder(const int32_t *list, const int32_t *parents, int32_t listed);

  uint64_t usedBytes() const;
  // Whether what slots use of each other has always added up.
  bool areConsistent() const { return consistent; }

private:
  struct Slot {
    int32_t length = 0;                     // tokens of its sequence
    int32_t source = -1;                    // the slot that holds its source
    int32_t firstWritten = 0, written = 0;  // positions of tokens in its memory: begin, end
    int32_t reached = 0;                    // the end of all that was written, counting what was dropped
    int32_t sourceTokens = 0;               // tokens of a source in its memory
    bool scattered = false;                 // its tokens are where `places` says; else all in its own memory
    bool retained = false;
    int64_t users = 0;  // tokens and sources in its memory that others use
  };
  // A slot after a reordering.
  struct Next {
    int32_t length, source;
    bool scattered;
  };

  static constexpr int32_t maxListed = 1 << 20;
  int32_t *slotHistory(const Mapping &table, int32_t slot) const {
    return reinterpret_cast<int32_t *>(table.data()) + int64_t(slot) * listedTokens();
  }
  Status reservePlaces();
  void stage(int32_t slot, int32_t parent);
  void commit(int32_t slot);
  void dropUses(int32_t slot);
  void dropTokens(int32_t slot, int32_t length);
  void dropUse(int32_t user, int32_t owner);
  void giveBack(int32_t slot);

  const Model *model = nullptr;
  Workspace *workspace = nullptr;
  std::vector<Slot> slots;
  std::vector<Next> staged;      // [slot], valid during a reordering
  std::vector<uint64_t> inList;  // [slot], the last reordering that listed it
  uint64_t reorderings = 0;
  bool consistent = true;
  Mapping places, nextPlaces;  // [slot][listedTokens], mapped by the first reordering
};

}  // namespace talc
