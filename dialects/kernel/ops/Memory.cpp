// SPDX-License-Identifier: Apache-2.0
// kernel.memory: what earlier segments of a text left, and what the open one will.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult MemoryOp::verify() {
  auto state = cast<KvCacheType>(getCache().getType());
  int64_t heads = getHeads(), width = state.getWidth(), keyWidth = state.getHeads() * width;
  if (state.getRole() != KvCacheRole::memory)
    return emitOpError() << "has the state " << state << ", expected one of the role memory";
  if (failed(expectSameShape(*this, getLocal(), getInit())) ||
      failed(expectSameShape(*this, getQueries(), getInit())) ||
      failed(expectSameShape(*this, getKeys(), getValues())) ||
      failed(expectRows(*this, "row count of the keys", getKeys(), getQueries())))
    return failure();
  if (heads <= 0 || heads % state.getHeads() != 0)
    return emitOpError() << "shares " << state.getHeads() << " key-value heads among " << heads << " heads";
  if (failed(expect(*this, "width of the queries", features(getQueries()), heads * width)) ||
      failed(expect(*this, "width of the keys", features(getKeys()), keyWidth)) ||
      failed(expectVector(*this, "gates", getGates(), heads)))
    return failure();
  if (!isa<MemRefType>(getInit().getType()) || isa_and_present<MatricesAttr>(state.getLayout()))
    return success();
  return emitOpError("has a state that is not laid out in #kernel.matrices; layout-kv-cache does it");
}

// Two operations for every number of the matrix: a query reads it, a key reads it for the delta rule and adds to it.
OpCosts MemoryOp::getCosts() {
  OpCosts costs;
  auto state = cast<KvCacheType>(getCache().getType());
  int64_t matrix = state.getWidth() * (state.getWidth() + 1);
  int64_t passes = getHeads() + state.getHeads() * (getUpdate() == MemoryUpdate::delta ? 2 : 1);
  costs.operations.perRow = 2 * passes * matrix;
  costs.stored.perCall = state.getSlotBytes() + weightBytes(getGates());
  costs.passed.perRow = 3 * rowBytes(getQueries()) + 2 * rowBytes(getKeys());
  return costs;
}

void MemoryOp::printShapes(raw_ostream &out) {
  auto state = cast<KvCacheType>(getCache().getType());
  out << getHeads() << "/" << state.getHeads() << " heads x " << state.getWidth();
}

Share MemoryOp::getDivision() {
  return Share::heads;
}

TaskSpace MemoryOp::getTaskSpace(Share) {
  return TaskSpace::heads;
}

void MemoryOp::getEffects(ComputeOpEffects &effects) {
  addComputeOpEffects(*this, effects);
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(), 0, true, SideEffects::DefaultResource::get());
}

}  // namespace talc::kernel
