// SPDX-License-Identifier: Apache-2.0
// The keys and values that the query rows of a sequence see: their range, and where they lie.
#pragma once

#include "compiler/passes/schedule/attention/MaskRange.h"
#include "compiler/passes/schedule/cpu/attention/KvAccess.h"

namespace talc {

// If some keys of a block lie in other slots (see kernel.span), the block is copied, so that tiles read it as if it lay
// in one slot.
//
// In a ring the panel of a position is its index modulo the ring's panels, and a block does not cross the end of the
// ring. Sink tokens are an interval of their own: between beginSinkRange() and endSinkRange() rows see that one.
class KvView {
public:
  using Value = mlir::Value;

  // QuantizedPanels have up to `size` keys, a whole number of panels; a task has up to `rows` rows. Makes the scratch
  // of this thread.
  KvView(Emitter &emitter, kernel::AttentionOp op, int64_t size, int64_t rows);

  void enter(kernel::SpanOp sequence) { range.enter(sequence); }
  // Row `row` of the task has the position `position`.
  void enterRow(Value row, Value position);
  void beginSinkRange() { range.beginSinkRange(); }
  void endSinkRange() { range.endSinkRange(); }
  bool isSinkRange() const { return range.isSinkRange(); }
  // The first key that a row of the task sees, and the end of its keys.
  Value firstVisible(Value row);
  Value visibleEnd(Value row);
  // Whether keys of a sequence may lie in several slots.
  bool mayScatter() const { return range.mayScatter(); }
  // The keys [firstKey, firstKey + count) of a head; firstKey is the first key of a panel.
  KvBlock locate(Value head, Value firstKey, Value count);
  // All keys and values in the sequence's own slot.
  KvBlock ownSlot() { return slotMemory(range.slot); }
  // The same keys if all lie in the sequence's own slot.
  KvBlock viewInSlot(Value head, Value firstKey);

  const kernel::KvLayout layout;
  KvStorage panels;

private:
  Value getPanelIndex(Value key);
  KvBlock slotMemory(Value slot);
  void gather(Value head, Value firstKey, Value count);

  Emitter &e;
  kernel::AttentionOp op;
  MaskRange range;
  int64_t size;
  KvBlock copies;      // of a block that is gathered
  Value firsts, ends;  // of the task's rows
};

}  // namespace talc
