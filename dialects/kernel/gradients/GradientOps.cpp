// SPDX-License-Identifier: Apache-2.0
// Verifiers, effects and costs of the compute ops of backward functions.
#include "dialects/kernel/gradients/GradientOps.h"

#include "dialects/kernel/ops/ComputeOpChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "dialects/kernel/gradients/GradientOps.cpp.inc"

using namespace mlir;

namespace talc::kernel {

void addWgradEffects(Operation *op, OpOperand &buffer, ComputeOpEffects &effects) {
  addComputeOpEffects(op, effects);
  effects.emplace_back(MemoryEffects::Write::get(), &buffer, 0, true, SideEffects::DefaultResource::get());
}

// Expects a buffer of f32 of known size.
static LogicalResult expectBuffer(Operation *op, Value buffer, int64_t rank) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == rank && type.hasStaticShape() && type.getElementType().isF32() && type.getLayout().isIdentity())
    return success();
  return op->emitOpError() << "buffer is " << type << ", expected f32 in " << rank << " dimensions of known size";
}

//===--- gradients of weights -----------------------------------------------------------------------------------===//

LogicalResult LinearWgradOp::verify() {
  if (failed(expectActivations(*this, "gradient", getGradient())) || failed(expectActivations(*this, "x", getX())) ||
      failed(expectRows(*this, "row count of x", getX(), getGradient())) ||
      failed(expectBuffer(*this, getBuffer(), 2)) ||
      failed(expect(*this, "row count of the buffer", size(getBuffer(), 0), features(getGradient()))))
    return failure();
  return expect(*this, "width of the buffer", features(getBuffer()), features(getX()));
}

OpCosts LinearWgradOp::getCosts() {
  OpCosts costs;
  costs.operations.perRow = 2 * features(getGradient()) * features(getX());
  costs.stored.perCall = 2 * weightBytes(getBuffer());
  costs.passed.perRow = rowBytes(getGradient()) + rowBytes(getX());
  return costs;
}

void LinearWgradOp::printShapes(raw_ostream &out) {
  out << features(getX()) << " x " << features(getGradient()) << " f32";
}

LogicalResult SumRowsOp::verify() {
  if (failed(expectActivations(*this, "gradient", getGradient())) || failed(expectBuffer(*this, getBuffer(), 1)))
    return failure();
  int64_t width = features(getGradient()), length = size(getBuffer(), 0);
  if (length > 0 && width % length == 0)
    return success();
  return emitOpError() << "sums " << width << " features into " << length;
}

OpCosts SumRowsOp::getCosts() {
  OpCosts costs;
  costs.operations.perRow = features(getGradient());
  costs.stored.perCall = 2 * weightBytes(getBuffer());
  costs.passed.perRow = rowBytes(getGradient());
  return costs;
}

void SumRowsOp::printShapes(raw_ostream &out) {
  out << features(getGradient());
}

LogicalResult ScatterAddOp::verify() {
  if (getIndex() == GatherIndex::outputs || getIndex() == GatherIndex::counted)
    return emitOpError() << "has the index " << stringifyGatherIndex(getIndex())
                         << ", expected ids, positions or types";
  if (failed(expectActivations(*this, "gradient", getGradient())) || failed(expectBuffer(*this, getBuffer(), 2)))
    return failure();
  return expect(*this, "width of the buffer", features(getBuffer()), features(getGradient()));
}

OpCosts ScatterAddOp::getCosts() {
  OpCosts costs;
  costs.operations.perRow = features(getGradient());
  costs.stored.perRow = 2 * rowBytes(getGradient());
  costs.passed.perRow = rowBytes(getGradient());
  return costs;
}

void ScatterAddOp::printShapes(raw_ostream &out) {
  out << features(getGradient());
}

//===--- gradients of activations -------------------------------------------------------------------------------===//

// The gradient of a result and what it is a function of have the shape of init.
static LogicalResult expectGradient(Operation *op, Value gradient, Value x, Value init) {
  return success(succeeded(expectSameShape(op, gradient, init)) && succeeded(expectSameShape(op, x, init)));
}

static OpCosts gradientCosts(Value x, Value init, int64_t operations) {
  OpCosts costs = rowWiseCosts(x, init, operations);
  costs.passed.perRow += rowBytes(x);
  return costs;
}

LogicalResult NormDgradOp::verify() {
  int64_t groups = getGroups(), width = features(getX());
  if (failed(expectGradient(*this, getGradient(), getX(), getInit())) ||
      failed(expectDivides(*this, "groups", groups, width)))
    return failure();
  int64_t length = getShapedType(getScale()).getRank() == 1 ? size(getScale(), 0) : 0;
  return expectVector(*this, "scale", getScale(), length == width ? width : width / groups);
}

OpCosts NormDgradOp::getCosts() {
  OpCosts costs = gradientCosts(getX(), getInit(), getKind() == NormKind::rms ? 9 : 14);
  costs.stored.perCall = weightBytes(getScale());
  return costs;
}

void NormDgradOp::printShapes(raw_ostream &out) {
  out << features(getX());
}

LogicalResult RopeDgradOp::verify() {
  int64_t heads = getHeads();
  if (failed(expectSameShape(*this, getX(), getInit())) ||
      failed(expectDivides(*this, "heads", heads, features(getX()))) ||
      failed(expectStored(*this, "table", getTable(), 2)) || failed(expectNatural(*this, "last", getLast())) ||
      failed(expectNatural(*this, "digits", getDigits())))
    return failure();
  if (getDigits() > 0 && failed(expect(*this, "row count of the table", size(getTable(), 0), 3 * getDigits())))
    return failure();
  int64_t width = features(getX()) / heads, rotary = features(getTable());
  if (rotary > 0 && rotary % 2 == 0 && rotary <= width)
    return success();
  return emitOpError() << "width of the table is " << rotary << ", expected an even number up to " << width;
}

OpCosts RopeDgradOp::getCosts() {
  OpCosts costs;
  costs.operations.perRow = 3 * getHeads() * features(getTable());
  costs.stored.perRow = rowBytes(getTable());
  costs.passed.perRow = rowBytes(getX()) + rowBytes(getInit());
  return costs;
}

void RopeDgradOp::printShapes(raw_ostream &out) {
  out << getHeads() << " heads x " << features(getX()) / getHeads();
}

LogicalResult SoftmaxDgradOp::verify() {
  return expectGradient(*this, getGradient(), getY(), getInit());
}

OpCosts SoftmaxDgradOp::getCosts() {
  return gradientCosts(getY(), getInit(), 4);
}

void SoftmaxDgradOp::printShapes(raw_ostream &out) {
  out << features(getY());
}

LogicalResult PlaceOp::verify() {
  if (failed(expectActivations(*this, "x", getX())) || failed(expectActivations(*this, "init", getInit())) ||
      failed(expectRows(*this, "row count of init", getInit(), getX())))
    return failure();
  int64_t offset = getOffset(), width = features(getX());
  if (offset >= 0 && offset <= features(getInit()) && width <= features(getInit()) - offset)
    return success();
  return emitOpError() << "puts " << width << " features at " << offset << " of " << features(getInit());
}

OpCosts PlaceOp::getCosts() {
  return rowWiseCosts(getX(), getInit(), 0);
}

void PlaceOp::printShapes(raw_ostream &out) {
  out << features(getX()) << " in " << features(getInit());
}

LogicalResult SpreadOp::verify() {
  if (failed(expectActivations(*this, "x", getX())) || failed(expectActivations(*this, "init", getInit())) ||
      failed(expectNatural(*this, "output", getOutput())))
    return failure();
  return expect(*this, "width of init", features(getInit()), features(getX()));
}

OpCosts SpreadOp::getCosts() {
  return rowWiseCosts(getX(), getInit(), 0);
}

void SpreadOp::printShapes(raw_ostream &out) {
  out << features(getX());
}

LogicalResult AttentionDgradOp::verify() {
  int64_t heads = getHeads(), kvHeads = getKvHeads(), width = features(getQueries());
  if (heads <= 0 || kvHeads <= 0 || heads % kvHeads != 0)
    return emitOpError() << "shares " << kvHeads << " key-value heads among " << heads << " heads";
  if (failed(expectDivides(*this, "heads", heads, width)) ||
      failed(expectSameShape(*this, getQueries(), getGradient())) ||
      failed(expectSameShape(*this, getKeys(), getValues())) ||
      failed(expectRows(*this, "row count of the keys", getKeys(), getQueries())) ||
      failed(expectActivations(*this, "init", getInit())) || failed(expectNatural(*this, "window", getWindow())))
    return failure();
  int64_t keyWidth = width / heads * kvHeads;
  if (failed(expect(*this, "width of the keys", features(getKeys()), keyWidth)))
    return failure();
  return expect(*this, "width of init", features(getInit()), width + 2 * keyWidth);
}

// Two products for the maxima, two for the probabilities, and one for each of three gradients.
OpCosts AttentionDgradOp::getCosts() {
  OpCosts costs;
  costs.operations.perPair = 14 * features(getQueries());
  costs.passed.perRow = 2 * rowBytes(getQueries()) + 2 * rowBytes(getKeys()) + rowBytes(getInit());
  return costs;
}

void AttentionDgradOp::printShapes(raw_ostream &out) {
  out << getHeads() << "/" << getKvHeads() << " heads x " << features(getQueries()) / static_cast<int64_t>(getHeads());
}

Share AttentionDgradOp::getDivision() {
  return Share::heads;
}

TaskSpace AttentionDgradOp::getTaskSpace(Share) {
  return TaskSpace::heads;
}

//===--- loss ---------------------------------------------------------------------------------------------------===//

LogicalResult TokenLossOp::verify() {
  if (failed(expectActivations(*this, "logits", getLogits())) || failed(expectActivations(*this, "init", getInit())) ||
      failed(expectRows(*this, "row count of init", getInit(), getLogits())))
    return failure();
  return expect(*this, "width of init", features(getInit()), 1);
}

// compare, subtract, exponential, add
OpCosts TokenLossOp::getCosts() {
  return rowWiseCosts(getLogits(), getInit(), 4);
}

void TokenLossOp::printShapes(raw_ostream &out) {
  out << features(getLogits());
}

LogicalResult LossDgradOp::verify() {
  return expectSameShape(*this, getLogits(), getInit());
}

OpCosts LossDgradOp::getCosts() {
  return rowWiseCosts(getLogits(), getInit(), 8);
}

void LossDgradOp::printShapes(raw_ostream &out) {
  out << features(getLogits());
}

}  // namespace talc::kernel
