// SPDX-License-Identifier: Apache-2.0
// Panels of single numbers, and of blocks.
#include "compiler/passes/schedule/gpu/ThreadState.h"

#include "compiler/passes/schedule/StateBlocks.h"
#include "compiler/passes/schedule/StoredBlocks.h"
#include "compiler/passes/schedule/StoredStores.h"

using namespace mlir;

namespace talc {

Value ThreadState::keys(Value step, Value state, Value slot) {
  return kernel::KeysOp::create(e.b, e.loc, layout.keysType(), step, state, slot);
}

Value ThreadState::values(Value step, Value state, Value slot) {
  return kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), step, state, slot);
}

namespace {

class NumbersOfThread final : public ThreadState {
public:
  NumbersOfThread(WorkgroupEmitter &e, const kernel::StateLayout &layout) : ThreadState(e, layout) {}

  Value loadKey(Value keys, const StatePlace &at, Value feature) override {
    return e.loadScalar(keys, {at.panel, at.head, feature, at.token});
  }
  Value loadValue(Value values, const StatePlace &at, Value feature) override {
    return e.loadScalar(values, {at.panel, at.head, at.token, feature});
  }
  int64_t together() const override { return 1; }
  void storeKey(Value keys, const StatePlace &at, Value feature, NumberAt numberAt) override {
    e.storeScalar(numberAt(e.index(0)), keys, {at.panel, at.head, feature, at.token});
  }
  void storeValue(Value values, const StatePlace &at, Value feature, NumberAt numberAt) override {
    e.storeScalar(numberAt(e.index(0)), values, {at.panel, at.head, at.token, feature});
  }
};

class BlocksOfThread final : public ThreadState {
public:
  BlocksOfThread(WorkgroupEmitter &e, const kernel::StateLayout &layout) : ThreadState(e, layout), blocks(layout) {}

  Value loadKey(Value keys, const StatePlace &at, Value feature) override {
    return loadScalarFrom(e, blocks.format, keyAt(keys, at, feature));
  }
  Value loadValue(Value values, const StatePlace &at, Value feature) override {
    return loadScalarFrom(e, blocks.format, valueAt(values, at, feature));
  }
  int64_t together() const override { return blocks.format.blockValues; }
  void storeKey(Value keys, const StatePlace &at, Value feature, NumberAt numberAt) override {
    storeBlockByThread(e, blocks.format, keyAt(keys, at, feature), numberAt);
  }
  void storeValue(Value values, const StatePlace &at, Value feature, NumberAt numberAt) override {
    storeBlockByThread(e, blocks.format, valueAt(values, at, feature), numberAt);
  }

private:
  Value partOf(const StatePlace &at) { return e.add(e.mul(at.panel, layout.heads), at.head); }
  BlockPlace keyAt(Value keys, const StatePlace &at, Value feature) {
    return blocks.keyPlace(e, e.bytes(keys), {}, e.mul(partOf(at), blocks.keyBytes()), feature, at.token);
  }
  BlockPlace valueAt(Value values, const StatePlace &at, Value feature) {
    return blocks.valuePlace(e, e.bytes(values), {}, e.mul(partOf(at), blocks.valueBytes()), at.token, feature);
  }

  const StateBlocks blocks;
};

}  // namespace

std::unique_ptr<ThreadState> ThreadState::create(WorkgroupEmitter &e, const kernel::StateLayout &layout) {
  if (isa<StoredType>(layout.element))
    return std::make_unique<BlocksOfThread>(e, layout);
  return std::make_unique<NumbersOfThread>(e, layout);
}

}  // namespace talc
