// SPDX-License-Identifier: Apache-2.0
// The interface through which `differentiate` asks an operation for its gradient, so that the pass has no list of ops.
#ifndef TALC_DIFFERENTIABLE
#define TALC_DIFFERENTIABLE

include "mlir/IR/OpBase.td"

def Talc_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::talc";
  let description = [{
    An operation whose vector-Jacobian product is known: from the gradient of its results follows what it adds to the
    gradients of its operands. The rules are attached from outside (dialects/talc/gradients), since only training
    needs them.
  }];
  let methods = [
    InterfaceMethod<"The operands and results that the rule reads, apart from weights.",
                    "::llvm::SmallVector<::mlir::Value>", "getNeeded", (ins), "", "return {};">,
    InterfaceMethod<"Whether computing it again costs less than keeping its result from forward to backward.", "bool",
                    "isCheap", (ins), "", "return false;">,
    InterfaceMethod<[{
      Builds the rule. `gradients`: one for each result; null: nobody needs that result. Fails after an error for what has
      no rule.
    }], "::mlir::LogicalResult", "buildVjp", (ins "::llvm::ArrayRef<::mlir::Value>":$gradients, "::talc::Vjp &":$vjp)>
  ];
}

#endif // TALC_DIFFERENTIABLE
