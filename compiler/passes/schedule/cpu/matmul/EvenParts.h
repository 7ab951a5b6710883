// SPDX-License-Identifier: Apache-2.0
// Work dealt evenly to as few parts as possible, so that no part is left that is too small to be fast.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// [0, total) in parts of at most `most`, whose sizes differ by at most one; the larger ones come first.
class EvenParts {
public:
  using Value = mlir::Value;
  using Body = llvm::function_ref<void(Value part, Value first, int64_t size)>;

  // A total of no more than `alone` is one part.
  EvenParts(Emitter &e, Value total, int64_t most, int64_t alone = 0)
      : count(countOf(e, total, most, alone)), least(e.div(total, count)), larger(e.rem(total, count)),
        most(std::max(most, alone)) {}

  // Code for each size stands once. No size is less than `smallest`.
  void each(Emitter &e, Body body, int64_t smallest = 1) const {
    e.loop(e.index(0), count, 1, [&](Value part) {
      Value first = e.add(e.mul(part, least), e.min(part, larger));
      Value size = e.add(least, e.select(e.less(part, larger), e.index(1), e.index(0)));
      e.dispatch(size, smallest, most, [&](int64_t known) { body(part, first, known); });
    });
  }

  // The least size that parts of `from` or more have; of `most` * `most` on none is below `most` - 1.
  static int64_t smallest(int64_t from, int64_t most) {
    int64_t size = std::max<int64_t>(most - 1, 1);
    for (int64_t total = from; total < most * most; ++total)
      size = std::min<int64_t>(size, total / llvm::divideCeil(total, most));
    return size;
  }

  const Value count;

private:
  static Value countOf(Emitter &e, Value total, int64_t most, int64_t alone) {
    Value count = e.ceilDiv(total, most);
    return alone > most ? e.select(e.less(total, e.index(alone + 1)), e.index(1), count) : count;
  }

  const Value least, larger;
  const int64_t most;
};

// The same for a total that is known: body(first, size).
inline void eachEvenPart(Emitter &e, int64_t total, int64_t most,
                         llvm::function_ref<void(mlir::Value first, int64_t size)> body) {
  int64_t count = llvm::divideCeil(total, most), least = total / count, border = total % count * (least + 1);
  if (border > 0)
    e.loop(e.index(0), e.index(border), least + 1, [&](mlir::Value first) { body(first, least + 1); });
  e.loop(e.index(border), e.index(total), least, [&](mlir::Value first) { body(first, least); });
}

}  // namespace talc
