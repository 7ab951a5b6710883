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

static int64_t dimension(Value memory, unsigned index) {
  auto type = cast<MemRefType>(memory.getType());
  return index < type.getRank() ? type.getDimSize(index) : -1;
}

LogicalResult LinearDgradOp::verify() {
  int64_t groups = getGroups(), width = features(getResult());
  if (groups < 1 || width % groups != 0 || features(getGradient()) % groups != 0 || width / groups < depth(getWeight()))
    return emitOpError() << "makes " << width << " features of " << features(getGradient()) << " in " << groups
                         << " groups of at least " << depth(getWeight());
  return expect(*this, "width of the gradient", features(getGradient()), rows(getWeight()));
}

LogicalResult LinearWgradOp::verify() {
  int64_t groups = getGroups(), inputs = dimension(getMemory(), 1);
  if (groups < 1 || features(getX()) % groups != 0 || features(getGradient()) % groups != 0 ||
      features(getX()) / groups < inputs)
    return emitOpError() << "sums " << features(getX()) << " features in " << groups << " groups of at least "
                         << inputs;
  return expect(*this, "number of rows", dimension(getMemory(), 0), features(getGradient()));
}

LogicalResult SumRowsOp::verify() {
  int64_t length = dimension(getMemory(), 0);
  return length > 0 && features(getGradient()) % length == 0
             ? success()
             : emitOpError() << "sums " << features(getGradient()) << " features into " << length;
}

LogicalResult ExpertsWgradOp::verify() {
  return expect(*this, "number of memories", getMemories().size(), 3 + getBiases().size());
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

LogicalResult CrossEntropyOp::verify() {
  double smoothing = getSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1))
    return emitOpError() << "has the smoothing " << smoothing << ", expected a number from 0 to 1";
  return expect(*this, "width of the loss", features(getLoss()), 1);
}

}  // namespace talc
