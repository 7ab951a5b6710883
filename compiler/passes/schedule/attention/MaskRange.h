// SPDX-License-Identifier: Apache-2.0
// Which keys a row of a sequence sees: an interval, whose ends rise with the row's position whatever the mask.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class MaskRange {
public:
  using Value = mlir::Value;

  MaskRange(Emitter &emitter, kernel::AttentionOp op);

  void enter(kernel::SpanOp sequence);
  // The first key that the row at a position sees, and the end of those that it sees.
  Value firstKey(Value position);
  Value endKey(Value position);
  // Tokens that are kept beside a window are an interval of their own: between these two rows see that one.
  void beginSinkRange() { inKept = true; }
  void endSinkRange() { inKept = false; }
  bool isSinkRange() const { return inKept; }
  // Whether keys of this sequence lie in several slots (see kernel.span); those of a source and of a step never do.
  bool mayScatter() const { return role == KvCacheRole::sequence; }
  Value isScattered();

  kernel::SpanOp span;
  Value slot;  // that has the keys, or the newest of them

private:
  Emitter &e;
  kernel::AttentionOp op;
  KvCacheRole role;
  int64_t kept;
  bool inKept = false;
  Value allKeys;
};

}  // namespace talc
