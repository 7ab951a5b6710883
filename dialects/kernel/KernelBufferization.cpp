// SPDX-License-Identifier: Apache-2.0
// Lets one-shot-bufferize convert the ops of the kernel dialect from tensors to buffers.
#include "dialects/kernel/ComputeOpInterface.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/RecurrenceOps.h"
#include "dialects/kernel/gradients/GradientOps.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace talc::kernel {

// The operands with every tensor replaced by its buffer.
static FailureOr<SmallVector<Value>> bufferOperands(RewriterBase &rewriter, Operation *op,
                                                    const BufferizationOptions &options, BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
  }
  return operands;
}

// The op on buffers, without results.
static void cloneOnBuffers(RewriterBase &rewriter, Operation *op, ValueRange operands) {
  OperationState clone(op->getLoc(), op->getName(), operands, TypeRange(), op->getAttrs());
  for (Region &region : op->getRegions())
    clone.addRegion()->takeBody(region);
  rewriter.create(clone);
}

namespace {

// A compute op writes its init completely and never reads it.
template <typename Op> struct ComputeOpModel : DstBufferizableOpInterfaceExternalModel<ComputeOpModel<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    auto operands = bufferOperands(rewriter, op, options, state);
    if (failed(operands))
      return failure();
    auto destination = cast<DestinationStyleOpInterface>(op);
    Value init = (*operands)[destination.getDpsInitOperand(0)->getOperandNumber()];
    cloneOnBuffers(rewriter, op, *operands);
    replaceOpWithBufferizedValues(rewriter, op, init);
    return success();
  }
};

// A compute op that writes a KV cache instead of a tensor.
template <typename Op> struct StoringModel : BufferizableOpInterface::ExternalModel<StoringModel<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const { return true; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const { return false; }
  AliasingValueList getAliasingValues(Operation *, OpOperand &, const AnalysisState &) const { return {}; }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto operands = bufferOperands(rewriter, op, options, state);
    if (failed(operands))
      return failure();
    cloneOnBuffers(rewriter, op, *operands);
    rewriter.eraseOp(op);
    return success();
  }
};

// Weights are read-only memory.
struct WeightModel : BufferizableOpInterface::ExternalModel<WeightModel, WeightOp> {
  bool isWritable(Operation *, Value, const AnalysisState &) const { return false; }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &,
                          BufferizationState &) const {
    auto weight = cast<WeightOp>(op);
    auto type = cast<RankedTensorType>(weight.getResult().getType());
    auto buffer = MemRefType::get(type.getShape(), type.getElementType());
    replaceOpWithNewBufferizedOp<WeightOp>(rewriter, op, buffer, weight.getStep(), weight.getNameAttr());
    return success();
  }
};

template <typename Op> void attachModel(MLIRContext *context) {
  constexpr bool isComputeOp = Op::template hasTrait<ComputeOpInterface::Trait>();
  if constexpr (isComputeOp && Op::template hasTrait<DestinationStyleOpInterface::Trait>())
    Op::template attachInterface<ComputeOpModel<Op>>(*context);
  else if constexpr (isComputeOp)
    Op::template attachInterface<StoringModel<Op>>(*context);
}

template <typename... Ops> void attachModels(MLIRContext *context) {
  (attachModel<Ops>(context), ...);
}

}  // namespace

void registerInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KernelDialect *) {
    attachModels<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
        >(context);
    attachModels<
#define GET_OP_LIST
#include "dialects/kernel/RecurrenceOps.cpp.inc"
        >(context);
    attachModels<
#define GET_OP_LIST
#include "dialects/kernel/gradients/GradientOps.cpp.inc"
        >(context);
    WeightOp::attachInterface<WeightModel>(*context);
  });
  registerUpstreamComputeOps(registry);
}

}  // namespace talc::kernel
