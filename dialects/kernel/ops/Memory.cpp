// SPDX-License-Identifier: Apache-2.0
// kernel.memory: compressive memory of earlier segments, updated with the open one.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult MemoryOp::verify() {
  auto cache = cast<KvCacheType>(getCache().getType());
  int64_t heads = getHeads(), width = cache.getWidth(), keyWidth = cache.getHeads() * width;
  if (cache.getRole() != KvCacheRole::memory)
    return emitOpError() << "has the cache " << cache << ", expected one of the role memory";
  if (failed(expectSameShape(*this, getLocal(), getInit())) ||
      failed(expectSameShape(*this, getQueries(), getInit())) ||
      failed(expectSameShape(*this, getKeys(), getValues())) ||
      failed(expectRows(*this, "row count of the keys", getKeys(), getQueries())))
    return failure();
  if (heads <= 0 || heads % cache.getHeads() != 0)
    return emitOpError() << "shares " << cache.getHeads() << " key-value heads among " << heads << " heads";
  if (failed(expect(*this, "width of the queries", features(getQueries()), heads * width)) ||
      failed(expect(*this, "width of the keys", features(getKeys()), keyWidth)) ||
      failed(expectVector(*this, "gates", getGates(), heads)))
    return failure();
  if (!isa<MemRefType>(getInit().getType()) || isa_and_present<MatricesAttr>(cache.getLayout()))
    return success();
  return emitOpError("has a cache that is not laid out as #kernel.matrices; layout-kv-cache does that");
}

// Two operations for every element of the matrix and access: queries read it, keys read it for the delta rule and add
// to it.
OpCosts MemoryOp::getCosts() {
  OpCosts costs;
  auto cache = cast<KvCacheType>(getCache().getType());
  int64_t matrix = cache.getWidth() * (cache.getWidth() + 1);
  int64_t passes = getHeads() + cache.getHeads() * (getUpdate() == MemoryUpdate::delta ? 2 : 1);
  costs.operations.perRow = 2 * passes * matrix;
  costs.stored.perCall = cache.getSlotBytes() + weightBytes(getGates());
  costs.passed.perRow = 3 * rowBytes(getQueries()) + 2 * rowBytes(getKeys());
  return costs;
}

void MemoryOp::printShapes(raw_ostream &out) {
  auto cache = cast<KvCacheType>(getCache().getType());
  out << getHeads() << "/" << cache.getHeads() << " heads x " << cache.getWidth();
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
