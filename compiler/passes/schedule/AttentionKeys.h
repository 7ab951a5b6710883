// SPDX-License-Identifier: Apache-2.0
// The keys that the rows of a sequence see, and where keys and values lie.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Some neighbouring keys of a head as the tiles read them: keys [panel, k, key], values [panel, key, feature].
struct KeyBlock {
  mlir::Value keys, values;
};

// What a row sees is an interval of keys, whose ends rise with the row's position whatever the mask. A block of which
// some keys lie in other slots (see kernel.span) is copied; the tiles read it as if it lay in one.
class AttentionKeys {
public:
  using Value = mlir::Value;

  // Blocks have up to `size` keys, a multiple of panelLanes. Makes the scratch of this thread.
  AttentionKeys(Emitter &emitter, kernel::AttentionOp op, int64_t size);

  void enter(kernel::SpanOp sequence);
  // The first key that the row at `position` sees, and the end of those that it sees.
  Value firstSeen(Value position);
  Value endSeen(Value position);
  // The keys [firstKey, firstKey + count) of a head; firstKey is a multiple of panelLanes.
  KeyBlock find(Value head, Value firstKey, Value count);

  const kernel::StateLayout layout;

private:
  KeyBlock memoryOf(Value slot);
  Value view(Value memory, int64_t blocks, int64_t rows, Value offset, int64_t stride);
  KeyBlock choose(Value condition, const KeyBlock &yes, const KeyBlock &no);
  void gather(Value head, Value firstKey, Value count);

  Emitter &e;
  kernel::AttentionOp op;
  StateRole role;
  int64_t size, valuePanels;
  kernel::SpanOp span;
  Value slot, allKeys;
  KeyBlock copies;
};

}  // namespace talc
