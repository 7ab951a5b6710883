// SPDX-License-Identifier: Apache-2.0
// The keys that the rows of a sequence see, and where keys and values lie.
#pragma once

#include "compiler/passes/schedule/attention/MaskRange.h"
#include "compiler/passes/schedule/cpu/attention/KvAccess.h"

namespace talc {

// A block of which some keys lie in other slots (see kernel.span) is copied; the tiles read it as if it lay in one.
//
// In a ring the panel of a position is its number modulo the ring's, and a block does not cross the ring's end. What is
// kept beside it is an interval of its own: between beginSinkRange() and endSinkRange() rows see that one.
class KvView {
public:
  using Value = mlir::Value;

  // Blocks have up to `size` keys, a whole number of panels; a task has up to `rows` rows. Makes the scratch of this
  // thread.
  KvView(Emitter &emitter, kernel::AttentionOp op, int64_t size, int64_t rows);

  void enter(kernel::SpanOp sequence) { seen.enter(sequence); }
  // Row `row` of the task has the position `position`.
  void enterRow(Value row, Value position);
  void beginSinkRange() { seen.beginSinkRange(); }
  void endSinkRange() { seen.endSinkRange(); }
  bool isSinkRange() const { return seen.isSinkRange(); }
  // The first key that a row of the task sees, and the end of those that it sees.
  Value firstSeen(Value row);
  Value endSeen(Value row);
  // Whether keys of a sequence may lie in several slots.
  bool mayScatter() const { return seen.mayScatter(); }
  // The keys [firstKey, firstKey + count) of a head; firstKey begins a panel.
  KvBlock find(Value head, Value firstKey, Value count);
  // All of the sequence's own slot.
  KvBlock own() { return memoryOf(seen.slot); }
  // The same if all lie in one slot.
  KvBlock inSlot(Value head, Value firstKey);

  const kernel::KvLayout layout;
  KvStorage panels;

private:
  Value panelOf(Value key);
  KvBlock memoryOf(Value slot);
  void gather(Value head, Value firstKey, Value count);

  Emitter &e;
  kernel::AttentionOp op;
  MaskRange seen;
  int64_t size;
  KvBlock copies;      // of a block that is gathered
  Value firsts, ends;  // of the task's rows
};

}  // namespace talc
