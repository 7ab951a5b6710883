// SPDX-License-Identifier: Apache-2.0
// Checks of what later passes rely on, since a program may have been edited by hand.
#include "dialects/kernel/ops/ComputeOpChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult expect(Operation *op, StringRef what, int64_t actual, int64_t expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << what << " is " << actual << ", expected " << expected;
}

LogicalResult expectNatural(Operation *op, StringRef what, int64_t actual) {
  return actual >= 0 ? success() : op->emitOpError() << what << " is " << actual << ", expected a number >= 0";
}

LogicalResult expectActivations(Operation *op, StringRef what, Value data) {
  ShapedType type = getShapedType(data);
  auto buffer = dyn_cast<MemRefType>(type);
  if (type.getRank() == 2 && type.getDimSize(1) > 0 && type.getElementType().isF32() &&
      (!buffer || buffer.isLastDimUnitStride()))
    return success();
  return op->emitOpError() << what << " is " << type
                           << ", expected rows of contiguous f32, with a known number of features";
}

LogicalResult expectQuantized(Operation *op, StringRef what, Value data) {
  ShapedType type = getShapedType(data);
  auto buffer = dyn_cast<MemRefType>(type);
  if (type.getRank() == 2 && type.getDimSize(1) > 0 && isQuantizedActivation(type.getElementType()) &&
      hasWholeBlocks(type) && (!buffer || buffer.getLayout().isIdentity()))
    return success();
  return op->emitOpError() << what << " is " << type
                           << ", expected contiguous rows of bf16 or of whole blocks of quantized activations";
}

LogicalResult expectMatmulInput(Operation *op, StringRef what, Value data) {
  return isQuantizedActivation(getShapedType(data).getElementType()) ? expectQuantized(op, what, data)
                                                                     : expectActivations(op, what, data);
}

LogicalResult expectOneRow(Operation *op, StringRef what, Value data) {
  if (hasOneRow(data))
    return success();
  return op->emitOpError() << what << " is " << getShapedType(data) << ", expected a single row";
}

LogicalResult expectRows(Operation *op, StringRef what, Value data, Value like) {
  int64_t actual = getShapedType(data).getDimSize(0), expected = getShapedType(like).getDimSize(0);
  bool unknown = ShapedType::isDynamic(actual) || ShapedType::isDynamic(expected);
  return unknown ? success() : expect(op, what, actual, expected);
}

LogicalResult expectSameShape(Operation *op, Value x, Value init) {
  if (failed(expectActivations(op, "x", x)) || failed(expectActivations(op, "init", init)) ||
      failed(expectRows(op, "row count of init", init, x)))
    return failure();
  return expect(op, "width of init", features(init), features(x));
}

LogicalResult expectDivides(Operation *op, StringRef what, int64_t parts, int64_t width) {
  if (parts > 0 && width % parts == 0)
    return success();
  return op->emitOpError() << "divides " << width << " features into " << parts << " " << what;
}

LogicalResult expectStored(Operation *op, StringRef what, Value data, int64_t rank) {
  ShapedType type = getShapedType(data);
  if (type.getRank() == rank && type.hasStaticShape() && getStorageFormat(type.getElementType()))
    return success();
  return op->emitOpError() << what << " is " << type << ", expected " << formatAlternatives() << " in " << rank
                           << " dimensions of known size";
}

LogicalResult expectVector(Operation *op, StringRef what, Value data, int64_t length) {
  ShapedType type = getShapedType(data);
  if (type.getRank() == 1 && type.getDimSize(0) == length && type.getElementType().isF32())
    return success();
  return op->emitOpError() << what << " is " << type << ", expected " << length << " f32";
}

LogicalResult expectPanels(Operation *op, StringRef what, Value weight) {
  if (failed(expectStored(op, what, weight, 3)))
    return failure();
  ShapedType type = getShapedType(weight);
  if (type.getDimSize(1) > 0 && type.getDimSize(2) > 0)
    return success();
  return op->emitOpError() << what << " has panels of depth " << type.getDimSize(1) << " and " << type.getDimSize(2)
                           << " lanes, expected more than 0";
}

LogicalResult expectLayout(Operation *op, KvCacheType cache, Value data) {
  if (cache.getLayout() || !isa<MemRefType>(data.getType()))
    return success();
  return op->emitOpError("has a KV cache without a layout; layout-kv-cache gives it one");
}

LogicalResult expectBlock(Operation *op, int64_t block, int64_t tokens) {
  if (block > 0 && block % tokens == 0)
    return success();
  return op->emitOpError() << "block is " << block << ", expected a multiple of " << tokens;
}

LogicalResult expectPartialAttention(Operation *op, StringRef what, Value partials, int64_t heads, int64_t width) {
  if (failed(expectActivations(op, what, partials)))
    return failure();
  if (getShapedType(partials).isDynamicDim(0))
    return op->emitOpError() << what << " is " << getShapedType(partials) << ", expected a known number of blocks";
  return expect(op, (what + " columns").str(), features(partials), PartialAttentionLayout(heads, width).columns());
}

}  // namespace talc::kernel
