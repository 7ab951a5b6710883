// SPDX-License-Identifier: Apache-2.0
// Registers the kernel dialect; which rows a buffer has.
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/pieces/PieceChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

using namespace mlir;

namespace talc::kernel {

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/kernel/KernelTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
}

Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

std::optional<int64_t> outputOf(Value buffer) {
  if (auto output = buffer.getDefiningOp<OutputOp>())
    return output.getOutput();
  Value rows;
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>(); alloc && !alloc.getDynamicSizes().empty())
    rows = alloc.getDynamicSizes()[0];
  if (auto arena = buffer.getDefiningOp<ArenaOp>())
    rows = arena.getRows();
  auto count = rows ? rows.getDefiningOp<OutputCountOp>() : OutputCountOp();
  return count ? std::optional<int64_t>(count.getOutput()) : std::nullopt;
}

std::optional<int64_t> outputOf(ValueRange operands) {
  for (Value operand : operands)
    if (auto output = outputOf(rootOf(operand)))
      return output;
  return std::nullopt;
}

LogicalResult BytesOp::verify() {
  auto from = cast<MemRefType>(getBuffer().getType()), to = cast<MemRefType>(getType());
  if (!formatOf(from.getElementType()) || !from.getLayout().isIdentity())
    return emitOpError() << "is of " << from << ", expected contiguous values of a storage format";
  if (to.getRank() == 1 && to.getElementType().isInteger(8) && to.getDimSize(0) == storedBytes(from))
    return success();
  return emitOpError() << "yields " << to << ", expected " << storedBytes(from) << " i8";
}

}  // namespace talc::kernel
