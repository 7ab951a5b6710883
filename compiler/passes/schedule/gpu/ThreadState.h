// SPDX-License-Identifier: Apache-2.0
// How a thread loads and stores what a state has: number by number, or of formats of blocks a block at a time.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include <memory>

namespace talc {

// A token in the panels of a head.
struct StatePlace {
  mlir::Value panel, head, token;
};

class ThreadState {
public:
  using Value = mlir::Value;

  static std::unique_ptr<ThreadState> create(WorkgroupEmitter &e, const kernel::StateLayout &layout);
  virtual ~ThreadState() = default;

  // All keys of a slot, all values.
  Value keys(Value step, Value state, Value slot);
  Value values(Value step, Value state, Value slot);

  virtual Value loadKey(Value keys, const StatePlace &at, Value feature) = 0;
  virtual Value loadValue(Value values, const StatePlace &at, Value feature) = 0;

  // How many neighbouring features a thread stores together, from a multiple of them on; `numberAt` is the i-th.
  virtual int64_t together() const = 0;
  using NumberAt = llvm::function_ref<Value(Value)>;
  virtual void storeKey(Value keys, const StatePlace &at, Value feature, NumberAt numberAt) = 0;
  virtual void storeValue(Value values, const StatePlace &at, Value feature, NumberAt numberAt) = 0;

protected:
  ThreadState(WorkgroupEmitter &e, const kernel::StateLayout &layout) : e(e), layout(layout) {}

  WorkgroupEmitter &e;
  const kernel::StateLayout layout;
};

}  // namespace talc
