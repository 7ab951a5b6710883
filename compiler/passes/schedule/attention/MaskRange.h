// SPDX-License-Identifier: Apache-2.0
// The range of keys that a query may see. With every mask its ends increase with the position of the query.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class MaskRange {
public:
  using Value = mlir::Value;

  MaskRange(Emitter &emitter, kernel::AttentionOp op);

  void enter(kernel::SpanOp sequence);
  // The first key that the query at a position sees, and the end of the range.
  Value firstKey(Value position);
  Value endKey(Value position);
  // Sink tokens beside a window are a separate range: between these two calls, ranges are those of sink tokens.
  void beginSinkRange() { inSinkRange = true; }
  void endSinkRange() { inSinkRange = false; }
  bool isSinkRange() const { return inSinkRange; }
  // Whether keys of the sequence may be in several slots (see kernel.span); those of a source and of a step never are.
  bool mayScatter() const { return role == KvCacheRole::sequence; }
  Value isScattered();

  kernel::SpanOp span;
  Value slot;  // the slot that has the keys, or the newest of them

private:
  Emitter &e;
  kernel::AttentionOp op;
  KvCacheRole role;
  int64_t sinkTokens;
  bool inSinkRange = false;
  Value allKeys;
};

}  // namespace talc
