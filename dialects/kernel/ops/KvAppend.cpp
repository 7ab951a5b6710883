// SPDX-License-Identifier: Apache-2.0
// kernel.kv_append: stores the step's keys and values in a state.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult KvAppendOp::verify() {
  auto state = cast<KvCacheType>(getCache().getType());
  int64_t width = state.getHeads() * state.getWidth();
  if (failed(expectActivations(*this, "keys", getKeys())) || failed(expectActivations(*this, "values", getValues())) ||
      failed(expectRows(*this, "row count of the values", getValues(), getKeys())) ||
      failed(expect(*this, "width of the keys", features(getKeys()), width)))
    return failure();
  if (failed(expect(*this, "width of the values", features(getValues()), width)))
    return failure();
  return expectLayout(*this, state, getKeys());
}

OpCosts KvAppendOp::getCosts() {
  OpCosts costs;
  costs.passed.perRow = rowBytes(getKeys()) + rowBytes(getValues());
  costs.stored.perRow = cast<KvCacheType>(getCache().getType()).getTokenBytes();
  return costs;
}

void KvAppendOp::printShapes(raw_ostream &out) {
  auto state = cast<KvCacheType>(getCache().getType());
  out << state.getHeads() << " heads x " << state.getWidth();
}

// With one row the heads belong to the workers that attention gives them to.
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
