// SPDX-License-Identifier: Apache-2.0
// Loads and stores of the KV cache by a thread: value by value, or a quant block at a time.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include <memory>

namespace talc {

// Index of a token in the panels of a head.
struct KvIndex {
  mlir::Value panel, head, token;
};

using ValueAt = llvm::function_ref<mlir::Value(mlir::Value)>;

// The keys or the values, in their storage format; `memory` has those of a slot.
class ThreadKvPart {
public:
  using Value = mlir::Value;
  virtual ~ThreadKvPart() = default;

  virtual Value load(Value memory, const KvIndex &at, Value feature) = 0;
  // The number of neighboring features that a thread stores at once, at least.
  virtual int64_t storeWidth() const = 0;
  // Stores `count` features from `feature` on, both multiples of storeWidth().
  virtual void store(Value memory, const KvIndex &at, Value feature, int64_t count, ValueAt valueAt) = 0;
};

class ThreadKvAccess {
public:
  using Value = mlir::Value;

  static std::unique_ptr<ThreadKvAccess> create(WorkgroupEmitter &e, const kernel::KvLayout &layout) {
    return std::make_unique<ThreadKvAccess>(e, layout);
  }
  ThreadKvAccess(WorkgroupEmitter &e, const kernel::KvLayout &layout);

  // The keys, and the values, of a slot.
  Value keys(Value step, Value cache, Value slot);
  Value values(Value step, Value cache, Value slot);

  Value loadKey(Value keys, const KvIndex &at, Value feature) { return keyPart->load(keys, at, feature); }
  Value loadValue(Value values, const KvIndex &at, Value feature) { return valuePart->load(values, at, feature); }

  // A thread stores so many features at once, from a multiple of that on; valueAt(i) is the i-th value.
  int64_t storeWidth() const { return std::max(keyPart->storeWidth(), valuePart->storeWidth()); }
  void storeKey(Value keys, const KvIndex &at, Value feature, ValueAt valueAt) {
    keyPart->store(keys, at, feature, storeWidth(), valueAt);
  }
  void storeValue(Value values, const KvIndex &at, Value feature, ValueAt valueAt) {
    valuePart->store(values, at, feature, storeWidth(), valueAt);
  }

private:
  WorkgroupEmitter &e;
  const kernel::KvLayout layout;
  std::unique_ptr<ThreadKvPart> keyPart, valuePart;
};

}  // namespace talc
