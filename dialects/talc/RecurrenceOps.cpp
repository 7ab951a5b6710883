// SPDX-License-Identifier: Apache-2.0
// Verifiers of the ops that see earlier tokens through a state.
#include "dialects/talc/RecurrenceOps.h"

#include "dialects/talc/OpChecks.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/talc/RecurrenceOps.cpp.inc"

using namespace mlir;

namespace talc {

static LogicalResult expectState(Operation *op, KvCacheType state, int64_t heads, int64_t width, int64_t rows) {
  if (state.getRole() != KvCacheRole::recurrence)
    return op->emitOpError() << "has the state " << state << ", expected one of the role recurrence";
  if (state.getHeads() == heads && state.getWidth() == width && state.getCapacity() == rows)
    return success();
  return op->emitOpError() << "has the state " << state << ", expected " << heads << " x " << width << " x " << rows;
}

LogicalResult CausalConvOp::verify() {
  constexpr int64_t mostTaps = 16;
  int64_t taps = rows(getWeight()), width = features(getX());
  if (taps < 2 || taps > mostTaps)
    return emitOpError() << "has a weight for " << taps << " tokens, expected 2 to " << mostTaps;
  if (failed(expect(*this, "width of the weight", features(getWeight()), width)) ||
      (getBias() && failed(expect(*this, "length of the bias", length(getBias()), width))))
    return failure();
  if (getActivation() && *getActivation() != ActivationKind::silu)
    return emitOpError() << "has the activation " << stringifyActivationKind(*getActivation()) << ", expected silu";
  return expectState(*this, cast<KvCacheType>(getState().getType()), 1, width, taps - 1);
}

LogicalResult RecurrenceOp::verify() {
  auto state = cast<KvCacheType>(getState().getType());
  int64_t heads = state.getHeads(), columns = state.getWidth(), depth = state.getCapacity();
  if (state.getRole() != KvCacheRole::recurrence)
    return emitOpError() << "has the state " << state << ", expected one of the role recurrence";
  int64_t width = features(getKeys());
  if (width <= 0 || width % depth != 0 || heads % (width / depth) != 0)
    return emitOpError() << "shares keys of " << width << " features among " << heads << " heads of " << depth
                         << " rows";
  if (failed(expect(*this, "width of the queries", features(getQueries()), width)) ||
      failed(expect(*this, "width of the values", features(getValues()), heads * columns)) ||
      failed(expect(*this, "width of the decay", features(getDecay()), heads)) ||
      failed(expect(*this, "number of rates", length(getRates()), heads)) ||
      failed(expect(*this, "width of the factors", features(getFactors()), heads)))
    return failure();
  return getSkip() ? expect(*this, "length of the skip", length(getSkip()), heads) : success();
}

LogicalResult SelectiveScanOp::verify() {
  constexpr int64_t mostNumbers = 1024;
  auto state = cast<KvCacheType>(getState().getType());
  int64_t width = state.getHeads() * state.getWidth(), depth = state.getCapacity();
  if (state.getRole() != KvCacheRole::recurrence)
    return emitOpError() << "has the state " << state << ", expected one of the role recurrence";
  if (depth > mostNumbers)
    return emitOpError() << "has " << depth << " numbers for each feature, expected at most " << mostNumbers;
  if (failed(expect(*this, "width of x", features(getX()), width)) ||
      failed(expect(*this, "width of the input", features(getInput()), state.getHeads() * depth)) ||
      failed(expect(*this, "number of rows of the rates", rows(getRates()), depth)) ||
      failed(expect(*this, "width of the rates", features(getRates()), width)))
    return failure();
  return expect(*this, "length of the skip", length(getSkip()), width);
}

}  // namespace talc
