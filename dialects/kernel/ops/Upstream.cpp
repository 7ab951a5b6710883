// SPDX-License-Identifier: Apache-2.0
// Compute ops of upstream dialects: elementwise linalg.generic, memref.copy.
#include "dialects/kernel/ComputeOpInterface.h"
#include "dialects/kernel/ops/ComputeOpSizes.h"
#include "dialects/kernel/ops/FusedOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace talc::kernel {

namespace {

bool isArithmetic(Operation &op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()) && !isa<arith::ConstantOp>(op);
}

struct ElementwiseModel : ComputeOpInterface::ExternalModel<ElementwiseModel, linalg::GenericOp> {
  OpCosts getCosts(Operation *op) const {
    auto generic = cast<linalg::GenericOp>(op);
    OpCosts costs;
    costs.operations.perRow = features(generic.getOutputs()[0]) * llvm::count_if(*generic.getBody(), isArithmetic);
    for (Value operand : op->getOperands())
      if (isa<ShapedType>(operand.getType()))
        addInput(costs, operand);
    return costs;
  }

  void printShapes(Operation *op, raw_ostream &out) const {
    out << features(cast<linalg::GenericOp>(op).getOutputs()[0]);
  }

  std::string getFused(Operation *op) const {
    Block &body = *cast<linalg::GenericOp>(op).getBody();
    return llvm::join(fusedOps(body, 1, op->getOperands().drop_front()), ", ");
  }
};

struct CopyModel : ComputeOpInterface::ExternalModel<CopyModel, memref::CopyOp> {
  OpCosts getCosts(Operation *op) const {
    auto copy = cast<memref::CopyOp>(op);
    OpCosts costs;
    costs.passed.perRow = rowBytes(copy.getSource()) + rowBytes(copy.getTarget());
    return costs;
  }

  void printShapes(Operation *op, raw_ostream &out) const { out << features(cast<memref::CopyOp>(op).getTarget()); }
};

}  // namespace

void registerUpstreamComputeOps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::GenericOp::attachInterface<ElementwiseModel>(*context);
  });
  registry.addExtension(
      +[](MLIRContext *context, memref::MemRefDialect *) { memref::CopyOp::attachInterface<CopyModel>(*context); });
}

}  // namespace talc::kernel
