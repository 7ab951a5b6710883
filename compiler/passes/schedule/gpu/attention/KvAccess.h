// SPDX-License-Identifier: Apache-2.0
// How a thread loads and stores what a state has: number by number, or of formats of blocks a block at a time.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include <memory>

namespace talc {

// A token in the panels of a head.
struct KvIndex {
  mlir::Value panel, head, token;
};

using NumberAt = llvm::function_ref<mlir::Value(mlir::Value)>;

// Keys or values, in their storage format; `memory` has all of a slot.
class ThreadKvPart {
public:
  using Value = mlir::Value;
  virtual ~ThreadKvPart() = default;

  virtual Value load(Value memory, const KvIndex &at, Value feature) = 0;
  // How many neighbouring features a thread stores together, at least.
  virtual int64_t together() const = 0;
  // `count` of them, a multiple of that, from a multiple of it on.
  virtual void store(Value memory, const KvIndex &at, Value feature, int64_t count, NumberAt numberAt) = 0;
};

class ThreadKvAccess {
public:
  using Value = mlir::Value;

  static std::unique_ptr<ThreadKvAccess> create(WorkgroupEmitter &e, const kernel::KvLayout &layout) {
    return std::make_unique<ThreadKvAccess>(e, layout);
  }
  ThreadKvAccess(WorkgroupEmitter &e, const kernel::KvLayout &layout);

  // All keys of a slot, all values.
  Value keys(Value step, Value state, Value slot);
  Value values(Value step, Value state, Value slot);

  Value loadKey(Value keys, const KvIndex &at, Value feature) { return ofKeys->load(keys, at, feature); }
  Value loadValue(Value values, const KvIndex &at, Value feature) { return ofValues->load(values, at, feature); }

  // How many neighbouring features a thread stores together, from a multiple of them on; `numberAt` is the i-th.
  int64_t together() const { return std::max(ofKeys->together(), ofValues->together()); }
  void storeKey(Value keys, const KvIndex &at, Value feature, NumberAt numberAt) {
    ofKeys->store(keys, at, feature, together(), numberAt);
  }
  void storeValue(Value values, const KvIndex &at, Value feature, NumberAt numberAt) {
    ofValues->store(values, at, feature, together(), numberAt);
  }

private:
  WorkgroupEmitter &e;
  const kernel::KvLayout layout;
  std::unique_ptr<ThreadKvPart> ofKeys, ofValues;
};

}  // namespace talc
