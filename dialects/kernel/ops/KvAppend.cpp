// SPDX-License-Identifier: Apache-2.0
// kernel.kv_append: stores the keys and values of a step in a KV cache.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult KvAppendOp::verify() {
  auto cache = cast<KvCacheType>(getCache().getType());
  int64_t width = cache.getHeads() * cache.getWidth();
  if (failed(expectActivations(*this, "keys", getKeys())) || failed(expectActivations(*this, "values", getValues())) ||
      failed(expectRows(*this, "row count of the values", getValues(), getKeys())) ||
      failed(expect(*this, "width of the keys", features(getKeys()), width)))
    return failure();
  if (failed(expect(*this, "width of the values", features(getValues()), width)))
    return failure();
  return expectLayout(*this, cache, getKeys());
}

OpCosts KvAppendOp::getCosts() {
  OpCosts costs;
  costs.passed.perRow = rowBytes(getKeys()) + rowBytes(getValues());
  costs.stored.perRow = cast<KvCacheType>(getCache().getType()).getTokenBytes();
  return costs;
}

void KvAppendOp::printShapes(raw_ostream &out) {
  auto cache = cast<KvCacheType>(getCache().getType());
  out << cache.getHeads() << " heads x " << cache.getWidth();
}

// With a single token, heads are divided as attention divides them, so that a worker finds the keys that it stored.
Share KvAppendOp::getDivision() {
  return hasOneRow(getKeys()) ? Share::heads : Share::rows;
}

TaskSpace KvAppendOp::getTaskSpace(Share share) {
  return share == Share::heads ? TaskSpace::heads : TaskSpace::rows;
}

void KvAppendOp::getEffects(ComputeOpEffects &effects) {
  addComputeOpEffects(*this, effects);
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(), 0, true, SideEffects::DefaultResource::get());
}

}  // namespace talc::kernel
