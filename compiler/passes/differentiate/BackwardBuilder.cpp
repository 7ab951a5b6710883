// SPDX-License-Identifier: Apache-2.0
// Walks operations backward and asks each for its rule; calls become calls of backward functions.
#include "compiler/passes/differentiate/BackwardBuilder.h"

using namespace mlir;

namespace talc {

LogicalResult BackwardBuilder::build(llvm::ArrayRef<Operation *> operations) {
  for (Operation *op : llvm::reverse(operations))
    if (failed(buildOp(op)))
      return failure();
  return success();
}

Value BackwardBuilder::value(Value original) {
  if (Value here = values.lookupOrNull(original))
    return here;
  // A weight, or the result of a cheap operation, which is computed again.
  Operation *op = original.getDefiningOp();
  for (Value operand : op->getOperands())
    value(operand);
  builder.clone(*op, values);
  return values.lookup(original);
}

void BackwardBuilder::add(Value activations, Value gradient) {
  if (!wants(activations))
    return;
  Value &sum = gradients[activations];
  sum = sum ? AddOp::create(builder, gradient.getLoc(), sum, gradient) : gradient;
}

Value BackwardBuilder::buffer(Value weight) {
  if (!trained.isTrained(weight))
    return {};
  Value &buffer = buffers[weight];
  if (!buffer) {
    auto get = weight.getDefiningOp<GetWeightOp>();
    buffer = GetGradientOp::create(builder, get.getLoc(), bufferType(weight), get.getName());
  }
  return buffer;
}

MemRefType BackwardBuilder::bufferType(Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

LogicalResult BackwardBuilder::buildOp(Operation *op) {
  llvm::SmallVector<Value> results;
  for (Value result : op->getResults())
    results.push_back(gradients.lookup(result));
  if (!llvm::any_of(results, [](Value gradient) { return bool(gradient); }))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    buildCall(call, results);
    return success();
  }
  if (auto rule = dyn_cast<DifferentiableOpInterface>(op))
    return rule.buildVjp(results, *this);
  return op->emitOpError("has no gradient, so that the weights before it cannot be trained");
}

void BackwardBuilder::buildCall(func::CallOp call, llvm::ArrayRef<Value> results) {
  auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
  const Derivative &derivative = derivatives.find(callee)->second;
  llvm::SmallVector<Value> operands(results);
  for (Value operand : call.getOperands())
    operands.push_back(value(operand));
  llvm::append_range(operands, keptByCalls[call]);
  for (unsigned weight : derivative.weights)
    operands.push_back(buffer(call.getOperand(weight)));
  auto backward = func::CallOp::create(builder, call.getLoc(), derivative.backward, operands);
  for (auto [argument, gradient] : llvm::zip_equal(derivative.activations, backward.getResults()))
    add(call.getOperand(argument), gradient);
}

}  // namespace talc
