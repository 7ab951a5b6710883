// SPDX-License-Identifier: Apache-2.0
// A tensor has as many rows as the value that it is computed from.
#include "compiler/passes/lower/TalcToKernel.h"

#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace talc {

Value getStepArgument(Operation *op) {
  return op->getParentOfType<func::FuncOp>().getArgument(0);
}

Value rowCount(OpBuilder &builder, Value value) {
  if (auto op = value.getDefiningOp<DestinationStyleOpInterface>())
    if (auto empty = op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>(); empty && !empty.getDynamicSizes().empty())
      return empty.getDynamicSizes()[0];
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return rowCount(builder, slice.getSource());
  Operation *scope = builder.getInsertionBlock()->getParentOp();
  return kernel::TokenCountOp::create(builder, value.getLoc(), cast<func::FuncOp>(scope).getArgument(0));
}

Value emptyTensor(OpBuilder &builder, Location loc, Type type, Value rows) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<Value> sizes;
  if (tensor.isDynamicDim(0))
    sizes.push_back(rows);
  return tensor::EmptyOp::create(builder, loc, tensor, sizes);
}

Value emptyLike(OpBuilder &builder, Value x, Type type) {
  bool dynamic = cast<RankedTensorType>(type).isDynamicDim(0);
  return emptyTensor(builder, x.getLoc(), type, dynamic ? rowCount(builder, x) : Value());
}

}  // namespace talc
