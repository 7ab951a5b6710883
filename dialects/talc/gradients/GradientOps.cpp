// SPDX-License-Identifier: Apache-2.0
// Verifiers of the operations of backward functions.

#include "dialects/talc/OpChecks.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/IR/Builders.h"

#include "dialects/talc/gradients/Differentiable.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/talc/gradients/GradientOps.cpp.inc"

using namespace mlir;

namespace talc {

// The number of rows of the buffer of a matrix, or the length of that of a vector.
static int64_t bufferRows(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getDimSize(0);
}

static int64_t bufferColumns(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getDimSize(1);
}

static LogicalResult expectRank(Operation *op, Value buffer, int64_t rank) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == rank && type.hasStaticShape())
    return success();
  return op->emitOpError() << "has the buffer " << type << ", expected one of rank " << rank << " and known size";
}

LogicalResult GetGradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(*this, getNameAttr());
  if (!weight)
    return emitOpError() << "names " << getNameAttr() << ", which is not a " << WeightOp::getOperationName();
  if (cast<RankedTensorType>(weight.getType()).getShape() != getResult().getType().getShape())
    return emitOpError() << "has the type " << getResult().getType() << ", but " << getNameAttr() << " is "
                         << weight.getType();
  return success();
}

//===--- layers -----------------------------------------------------------------------------------------------===//

LogicalResult LinearDgradOp::verify() {
  int64_t groups = getGroups(), width = features(getResult());
  if (groups < 1 || width % groups != 0 || features(getGradient()) % groups != 0 || width / groups < depth(getWeight()))
    return emitOpError() << "makes " << width << " features of " << features(getGradient()) << " in " << groups
                         << " groups of at least " << depth(getWeight());
  return expect(*this, "width of the gradient", features(getGradient()), rows(getWeight()));
}

LogicalResult LinearWgradOp::verify() {
  if (failed(expectRank(*this, getBuffer(), 2)))
    return failure();
  int64_t groups = getGroups(), inputs = bufferColumns(getBuffer());
  if (groups < 1 || features(getX()) % groups != 0 || features(getGradient()) % groups != 0 ||
      features(getX()) / groups < inputs)
    return emitOpError() << "sums " << features(getX()) << " features in " << groups << " groups of at least "
                         << inputs;
  return expect(*this, "number of rows", bufferRows(getBuffer()), features(getGradient()));
}

LogicalResult SumRowsOp::verify() {
  if (failed(expectRank(*this, getBuffer(), 1)))
    return failure();
  int64_t length = bufferRows(getBuffer());
  return length > 0 && features(getGradient()) % length == 0
             ? success()
             : emitOpError() << "sums " << features(getGradient()) << " features into " << length;
}

// `length` is that of the scale, or of its buffer.
template <typename Op> static LogicalResult verifyNorm(Op op, int64_t length) {
  int64_t groups = op.getGroups(), width = features(op.getX());
  if (groups <= 0 || width % groups != 0)
    return op.emitOpError() << "divides " << width << " features into " << groups << " groups";
  double epsilon = op.getEpsilon().convertToDouble();
  if (!(epsilon >= 0))
    return op.emitOpError() << "has the epsilon " << epsilon << ", expected a number >= 0";
  return length == width ? success() : expect(op, "length of the scale", length, width / groups);
}

LogicalResult NormDgradOp::verify() {
  return verifyNorm(*this, length(getScale()));
}

LogicalResult NormWgradOp::verify() {
  return failed(expectRank(*this, getBuffer(), 1)) ? failure() : verifyNorm(*this, bufferRows(getBuffer()));
}

LogicalResult ClampDgradOp::verify() {
  double bound = getBound().convertToDouble();
  return bound > 0 ? success() : emitOpError() << "has the bound " << bound << ", expected a number > 0";
}

//===--- selections and lookups -------------------------------------------------------------------------------===//

LogicalResult SpreadOp::verify() {
  if (static_cast<int64_t>(getOutput()) < 0)
    return emitOpError() << "is for the negative output " << static_cast<int64_t>(getOutput());
  return expect(*this, "width of the result", features(getResult()), features(getGradient()));
}

LogicalResult PlaceOp::verify() {
  int64_t offset = getOffset(), width = features(getGradient());
  if (offset < 0 || offset > features(getResult()) || width > features(getResult()) - offset)
    return emitOpError() << "puts " << width << " features at " << offset << " of " << features(getResult());
  return success();
}

LogicalResult SliceHeadsOp::verify() {
  int64_t heads = getHeads(), offset = getOffset();
  if (heads < 1 || features(getGradient()) % heads != 0 || features(getResult()) % heads != 0)
    return emitOpError() << "divides " << features(getGradient()) << " and " << features(getResult())
                         << " features into " << heads << " heads";
  int64_t from = features(getGradient()) / heads, width = features(getResult()) / heads;
  if (offset < 0 || offset > from || width > from - offset)
    return emitOpError() << "takes " << width << " features from " << offset << " on, of heads of " << from;
  return success();
}

// The gradient of a token is a row of the table that the buffer is of.
static LogicalResult verifyTable(Operation *op, Value gradient, Value buffer) {
  return failed(expectRank(op, buffer, 2))
             ? failure()
             : expect(op, "width of the gradient", features(gradient), bufferColumns(buffer));
}

LogicalResult EmbeddingWgradOp::verify() {
  if (static_cast<int64_t>(getFirst()) < 0)
    return emitOpError() << "has a table of ids from " << static_cast<int64_t>(getFirst()) << " on";
  return verifyTable(*this, getGradient(), getBuffer());
}

LogicalResult PositionWgradOp::verify() {
  if (static_cast<int64_t>(getOffset()) < 0)
    return emitOpError() << "has the negative offset " << static_cast<int64_t>(getOffset());
  if (bool(getIds()) != bool(getPadding()))
    return emitOpError("has token ids or the id of padding, expected both or neither");
  return verifyTable(*this, getGradient(), getBuffer());
}

LogicalResult TokenTypeWgradOp::verify() {
  return verifyTable(*this, getGradient(), getBuffer());
}

//===--- loss -------------------------------------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::verify() {
  double smoothing = getSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1))
    return emitOpError() << "has the smoothing " << smoothing << ", expected a number >= 0 and < 1";
  return expect(*this, "width of the loss", features(getLoss()), 1);
}

}  // namespace talc
