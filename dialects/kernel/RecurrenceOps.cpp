// SPDX-License-Identifier: Apache-2.0
// Verifiers, effects and costs of the compute ops with states.
#include "dialects/kernel/RecurrenceOps.h"

#include "dialects/kernel/ops/ComputeOpChecks.h"

#include "mlir/IR/Builders.h"

namespace talc::kernel {

void addStateEffects(mlir::Operation *op, mlir::OpOperand &state, ComputeOpEffects &effects) {
  addComputeOpEffects(op, effects);
  effects.emplace_back(mlir::MemoryEffects::Write::get(), &state, 0, true, mlir::SideEffects::DefaultResource::get());
}

}  // namespace talc::kernel

#define GET_OP_CLASSES
#include "dialects/kernel/RecurrenceOps.cpp.inc"

using namespace mlir;

namespace talc::kernel {

static LogicalResult expectState(Operation *op, KvCacheType state, ArrayRef<int64_t> shape, Value init) {
  if (state.getRole() != KvCacheRole::recurrence ||
      shape != ArrayRef<int64_t>{state.getHeads(), state.getWidth(), state.getCapacity()})
    return op->emitOpError() << "has the state " << state << ", expected a recurrence of " << shape[0] << " x "
                             << shape[1] << " x " << shape[2];
  if (!isa<MemRefType>(init.getType()) || isa_and_present<ColumnsAttr>(state.getLayout()))
    return success();
  return op->emitOpError("has a state that is not laid out as #kernel.columns; layout-kv-cache does that");
}

//===--- causal_conv ---------------------------------------------------------------------------------------------===//

LogicalResult CausalConvOp::verify() {
  if (failed(expectActivations(*this, "x", getX())) || failed(expectSameShape(*this, getX(), getInit())) ||
      failed(expectStored(*this, "weight", getWeight(), 2)) ||
      failed(expect(*this, "width of the weight", features(getWeight()), features(getX()))) ||
      (getBias() && failed(expectVector(*this, "bias", getBias(), features(getX())))))
    return failure();
  if (getActivation() && *getActivation() != ActivationKind::silu)
    return emitOpError() << "has the activation " << stringifyActivationKind(*getActivation()) << ", expected silu";
  int64_t taps = size(getWeight(), 0);
  if (taps < 2)
    return emitOpError() << "has a weight for " << taps << " tokens, expected 2 or more";
  return expectState(*this, cast<KvCacheType>(getState().getType()), {1, features(getX()), taps - 1}, getInit());
}

OpCosts CausalConvOp::getCosts() {
  OpCosts costs;
  costs.operations.perRow = 2 * getShapedType(getWeight()).getNumElements();
  costs.stored.perCall = cast<KvCacheType>(getState().getType()).getSlotBytes() + weightBytes(getWeight()) +
                         (getBias() ? weightBytes(getBias()) : 0);
  costs.passed.perRow = rowBytes(getX()) + rowBytes(getInit());
  return costs;
}

void CausalConvOp::printShapes(raw_ostream &out) {
  out << size(getWeight(), 0) << " tokens x " << features(getX());
}

//===--- recurrence ----------------------------------------------------------------------------------------------===//

LogicalResult RecurrenceOp::verify() {
  auto state = cast<KvCacheType>(getState().getType());
  int64_t heads = state.getHeads(), depth = state.getCapacity(), columns = state.getWidth();
  for (auto [what, data] : {std::pair<StringRef, Value>{"queries", getQueries()},
                            {"keys", getKeys()},
                            {"values", getValues()},
                            {"decay", getDecay()},
                            {"factors", getFactors()}})
    if (failed(expectActivations(*this, what, data)) ||
        failed(expectRows(*this, "row count of an operand", data, getInit())))
      return failure();
  int64_t width = features(getKeys());
  if (width <= 0 || width % depth != 0 || heads % (width / depth) != 0)
    return emitOpError() << "shares keys of " << width << " features among " << heads << " heads of " << depth
                         << " rows";
  if (failed(expectSameShape(*this, getValues(), getInit())) ||
      failed(expect(*this, "width of the queries", features(getQueries()), width)) ||
      failed(expect(*this, "width of the values", features(getValues()), heads * columns)) ||
      failed(expect(*this, "width of the decay", features(getDecay()), heads)) ||
      failed(expect(*this, "width of the factors", features(getFactors()), heads)) ||
      failed(expectVector(*this, "rates", getRates(), heads)) ||
      (getSkip() && failed(expectVector(*this, "skip", getSkip(), heads))))
    return failure();
  return expectState(*this, state, {heads, columns, depth}, getInit());
}

// A multiply-add for every element of the matrix: decay and sum, readout, and for delta what the key reads.
OpCosts RecurrenceOp::getCosts() {
  OpCosts costs;
  auto state = cast<KvCacheType>(getState().getType());
  int64_t matrices = state.getHeads() * state.getCapacity() * state.getWidth();
  costs.operations.perRow = 2 * matrices * (getUpdate() == RecurrenceUpdate::delta ? 4 : 3);
  costs.stored.perCall = 2 * state.getSlotBytes() + weightBytes(getRates());
  for (Value data : {getQueries(), getKeys(), getValues(), getDecay(), getFactors(), getInit()})
    costs.passed.perRow += rowBytes(data);
  return costs;
}

void RecurrenceOp::printShapes(raw_ostream &out) {
  auto state = cast<KvCacheType>(getState().getType());
  out << state.getHeads() << " heads x " << state.getCapacity() << " x " << state.getWidth();
}

//===--- selective_scan ------------------------------------------------------------------------------------------===//

LogicalResult SelectiveScanOp::verify() {
  auto state = cast<KvCacheType>(getState().getType());
  int64_t groups = state.getHeads(), depth = state.getCapacity(), width = groups * state.getWidth();
  for (auto [what, data] : {std::pair<StringRef, Value>{"x", getX()},
                            {"steps", getSteps()},
                            {"input", getInput()},
                            {"output", getOutput()}})
    if (failed(expectActivations(*this, what, data)) ||
        failed(expectRows(*this, "row count of an operand", data, getInit())))
      return failure();
  if (failed(expectSameShape(*this, getX(), getInit())) || failed(expectSameShape(*this, getSteps(), getInit())) ||
      failed(expect(*this, "width of x", features(getX()), width)) ||
      failed(expect(*this, "width of the input", features(getInput()), groups * depth)) ||
      failed(expect(*this, "width of the output", features(getOutput()), groups * depth)) ||
      failed(expectStored(*this, "rates", getRates(), 2)) ||
      failed(expect(*this, "number of rows of the rates", size(getRates(), 0), depth)) ||
      failed(expect(*this, "width of the rates", features(getRates()), width)) ||
      failed(expectVector(*this, "skip", getSkip(), width)))
    return failure();
  return expectState(*this, state, {groups, state.getWidth(), depth}, getInit());
}

// A product and an exponential for the decay, two multiply-adds for the number, one to read it.
OpCosts SelectiveScanOp::getCosts() {
  OpCosts costs;
  auto state = cast<KvCacheType>(getState().getType());
  costs.operations.perRow = 8 * state.getHeads() * state.getCapacity() * state.getWidth();
  costs.stored.perCall = 2 * state.getSlotBytes() + weightBytes(getRates()) + weightBytes(getSkip());
  for (Value data : {getX(), getSteps(), getInput(), getOutput(), getInit()})
    costs.passed.perRow += rowBytes(data);
  return costs;
}

void SelectiveScanOp::printShapes(raw_ostream &out) {
  auto state = cast<KvCacheType>(getState().getType());
  out << state.getHeads() << " groups x " << state.getCapacity() << " x " << state.getWidth();
}

}  // namespace talc::kernel
