// SPDX-License-Identifier: Apache-2.0
// Rules of gradients and the pass that builds a backward function talk to each other through Vjp.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/Builders.h"

namespace talc {

// The backward function while it is built, as the rule of one operation sees it. Values that rules name are those of
// the original function.
class Vjp {
public:
  explicit Vjp(mlir::OpBuilder &builder) : builder(builder) {}
  virtual ~Vjp() = default;

  // The value in the backward function of what getNeeded named, of a weight, of the step's ids or its sequences.
  virtual mlir::Value value(mlir::Value original) = 0;
  // Whether somebody needs the gradient of these activations.
  virtual bool wants(mlir::Value activations) = 0;
  // Adds to the gradient of activations.
  virtual void add(mlir::Value activations, mlir::Value gradient) = 0;
  // The buffer of the gradient of a weight, which rules add to; null: the weight is not trained.
  virtual mlir::Value buffer(mlir::Value weight) = 0;

  mlir::OpBuilder &builder;  // behind what has been built
};

// Attaches the rules to the operations of the dialect, which calls this.
void attachGradients(mlir::MLIRContext &context);

}  // namespace talc

#include "dialects/talc/gradients/Differentiable.h.inc"

#define GET_OP_CLASSES
#include "dialects/talc/gradients/GradientOps.h.inc"

namespace talc {

// The rule of an operation; see DifferentiableOpInterface for what it implements.
template <typename Concrete, typename Op> using Rule = DifferentiableOpInterface::ExternalModel<Concrete, Op>;

// The rule of an operation that is computed again in the backward function.
template <typename Concrete, typename Op> struct CheapRule : Rule<Concrete, Op> {
  bool isCheap(mlir::Operation *) const { return true; }
};

// Each file with rules attaches its own.
void attachLayerGradients(mlir::MLIRContext &context);     // LayerGradients.cpp
void attachExpertGradients(mlir::MLIRContext &context);    // ExpertGradients.cpp
void attachLookupGradients(mlir::MLIRContext &context);    // LookupGradients.cpp
void attachAttentionGradient(mlir::MLIRContext &context);  // AttentionGradient.cpp

}  // namespace talc
