// SPDX-License-Identifier: Apache-2.0
// Work that is split evenly into as few parts as possible, so that no part is too small to be fast.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// [0, total) in parts of at most `maxSize`, whose sizes differ by at most one; the larger ones come first.
class EvenParts {
public:
  using Value = mlir::Value;
  using Body = llvm::function_ref<void(Value part, Value first, int64_t size)>;

  // A total of at most `maxUndivided` is one part.
  EvenParts(Emitter &e, Value total, int64_t maxSize, int64_t maxUndivided = 0)
      : count(countParts(e, total, maxSize, maxUndivided)), minSize(e.div(total, count)), larger(e.rem(total, count)),
        maxSize(std::max(maxSize, maxUndivided)) {}

  // Emits the code for each size once. No size is less than `smallest`.
  void each(Emitter &e, Body body, int64_t smallest = 1) const {
    e.loop(e.index(0), count, 1, [&](Value part) {
      Value first = e.add(e.mul(part, minSize), e.min(part, larger));
      Value size = e.add(minSize, e.select(e.less(part, larger), e.index(1), e.index(0)));
      e.dispatch(size, smallest, maxSize, [&](int64_t staticSize) { body(part, first, staticSize); });
    });
  }

  // The smallest size of the parts of a total of `from` or more; from maxSize * maxSize on it is at least maxSize - 1.
  static int64_t smallest(int64_t from, int64_t maxSize) {
    int64_t size = std::max<int64_t>(maxSize - 1, 1);
    for (int64_t total = from; total < maxSize * maxSize; ++total)
      size = std::min<int64_t>(size, total / llvm::divideCeil(total, maxSize));
    return size;
  }

  const Value count;

private:
  static Value countParts(Emitter &e, Value total, int64_t maxSize, int64_t maxUndivided) {
    Value count = e.ceilDiv(total, maxSize);
    return maxUndivided > maxSize ? e.select(e.less(total, e.index(maxUndivided + 1)), e.index(1), count) : count;
  }

  const Value minSize, larger;
  const int64_t maxSize;
};

// The same for a static total: body(first, size).
inline void forEachEvenPart(Emitter &e, int64_t total, int64_t maxSize,
                            llvm::function_ref<void(mlir::Value first, int64_t size)> body) {
  int64_t count = llvm::divideCeil(total, maxSize), minSize = total / count, border = total % count * (minSize + 1);
  if (border > 0)
    e.loop(e.index(0), e.index(border), minSize + 1, [&](mlir::Value first) { body(first, minSize + 1); });
  e.loop(e.index(border), e.index(total), minSize, [&](mlir::Value first) { body(first, minSize); });
}

}  // namespace talc
