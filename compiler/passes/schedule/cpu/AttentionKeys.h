// SPDX-License-Identifier: Apache-2.0
// The keys that the rows of a sequence see, and where keys and values lie.
#pragma once

#include "compiler/passes/schedule/SeenKeys.h"
#include "compiler/passes/schedule/cpu/StateStorage.h"

namespace talc {

// A block of which some keys lie in other slots (see kernel.span) is copied; the tiles read it as if it lay in one.
//
// In a ring the panel of a position is its number modulo the ring's, and a block does not cross the ring's end. What is
// kept beside it is an interval of its own: between beginKept() and endKept() rows see that one.
class AttentionKeys {
public:
  using Value = mlir::Value;

  // Blocks have up to `size` keys, a whole number of panels; a task has up to `rows` rows. Makes the scratch of this
  // thread.
  AttentionKeys(Emitter &emitter, kernel::AttentionOp op, int64_t size, int64_t rows);

  void enter(kernel::SpanOp sequence) { seen.enter(sequence); }
  // Row `row` of the task has the position `position`.
  void enterRow(Value row, Value position);
  void beginKept() { seen.beginKept(); }
  void endKept() { seen.endKept(); }
  bool isKept() const { return seen.isKept(); }
  // The first key that a row of the task sees, and the end of those that it sees.
  Value firstSeen(Value row);
  Value endSeen(Value row);
  // Whether keys of a sequence may lie in several slots.
  bool mayScatter() const { return seen.mayScatter(); }
  // The keys [firstKey, firstKey + count) of a head; firstKey begins a panel.
  KeyBlock find(Value head, Value firstKey, Value count);
  // All of the sequence's own slot.
  KeyBlock own() { return memoryOf(seen.slot); }
  // The same if all lie in one slot.
  KeyBlock inSlot(Value head, Value firstKey);

  const kernel::StateLayout layout;
  StateStorage panels;

private:
  Value panelOf(Value key);
  KeyBlock memoryOf(Value slot);
  void gather(Value head, Value firstKey, Value count);

  Emitter &e;
  kernel::AttentionOp op;
  SeenKeys seen;
  int64_t size;
  KeyBlock copies;     // of a block that is gathered
  Value firsts, ends;  // of the task's rows
};

}  // namespace talc
