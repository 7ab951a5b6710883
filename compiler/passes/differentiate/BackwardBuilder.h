// SPDX-License-Identifier: Apache-2.0
// Builds the gradients of a list of operations, the last one first (reverse mode).
#pragma once

#include "compiler/passes/differentiate/TrainedValues.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace talc {

// The two functions that a layer function becomes, and what their calls have beside the operands of its calls.
struct Derivative {
  mlir::func::FuncOp forward, backward;
  llvm::SetVector<mlir::Value> kept;        // values of the layer function
  llvm::SmallVector<unsigned> activations;  // arguments whose gradients `backward` returns, in order
  llvm::SmallVector<unsigned> weights;      // arguments whose gradient buffers it takes, in order
};

using Derivatives = llvm::MapVector<mlir::Operation *, Derivative>;

class BackwardBuilder : public Vjp {
public:
  BackwardBuilder(mlir::OpBuilder &builder, const TrainedValues &trained, const Derivatives &derivatives)
      : Vjp(builder), trained(trained), derivatives(derivatives) {}

  // Before `build`: what a value is in the function that is built.
  void map(mlir::Value original, mlir::Value here) { values.map(original, here); }
  void mapBuffer(mlir::Value weight, mlir::Value buffer) { buffers[weight] = buffer; }
  // Before `build`: what the forward function of a call has kept.
  void mapKept(mlir::func::CallOp call, mlir::ValueRange kept) { keptByCalls[call] = llvm::to_vector(kept); }

  // Reports operations without a gradient.
  mlir::LogicalResult build(llvm::ArrayRef<mlir::Operation *> operations);

  // The sum of all that was added for these activations; null: nothing was.
  mlir::Value gradient(mlir::Value activations) const { return gradients.lookup(activations); }

  mlir::Value value(mlir::Value original) override;
  bool wants(mlir::Value activations) override { return trained.isActive(activations); }
  void add(mlir::Value activations, mlir::Value gradient) override;
  mlir::Value buffer(mlir::Value weight) override;

  static mlir::MemRefType bufferType(mlir::Value weight);

private:
  mlir::LogicalResult buildOp(mlir::Operation *op);
  void buildCall(mlir::func::CallOp call, llvm::ArrayRef<mlir::Value> results);

  const TrainedValues &trained;
  const Derivatives &derivatives;
  mlir::IRMapping values;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;    // by weights
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;  // by activations
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> keptByCalls;
};

}  // namespace talc
