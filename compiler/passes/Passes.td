// SPDX-License-Identifier: Apache-2.0
// The table of contents of talc's passes, in the order in which compiler/Pipeline.cpp runs them.
#ifndef TALC_PASSES
#define TALC_PASSES

include "mlir/Pass/PassBase.td"

//===--- optimize: talc -> talc ----------------------------------------------------------------------------------===//

def FuseGatedLinear : Pass<"fuse-gated-linear", "mlir::ModuleOp"> {
  let summary = "one op for the first half of a gated feed-forward layer";
  let description = [{
      mul(activation(linear(x, gate)), linear(x, up))  ->  gated_linear(activation, x, gate, up)

    Only without biases and only if nothing else uses the intermediate values. Runs before merge-projections, which would
    otherwise join the two projections without their product.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def MergeProjections : Pass<"merge-projections", "mlir::ModuleOp"> {
  let summary = "one linear for all projections of the same activations (q/k/v, gate/up)";
  let description = [{
      linear(x, a), linear(x, b)  ->  y = linear(x, concat(a, b)); slice(y at 0), slice(y at N_a)

    x is read once and the contraction gets wider; a missing bias becomes zeros when another one is present.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def TabulateRope : Pass<"tabulate-rope", "mlir::ModuleOp"> {
  let summary = "gives every rope its cosines and sines as a weight";
  let description = "rope(x)  ->  rope(x) table derive(#talc.rotary_table), one row for every position up to talc.max_sequence.";
  let dependentDialects = ["talc::TalcDialect"];
}

//===--- lower: talc -> linalg, kernel ---------------------------------------------------------------------------===//

def ConvertTalcToKernel : Pass<"convert-talc-to-kernel", "mlir::ModuleOp"> {
  let summary = "every talc op becomes a piece of the kernel dialect or a linalg.generic, on tensors";
  let description = [{
    Functions take the running step first and write into a tensor that the caller gives; weights must be packed, ropes
    tabulated, keys in a state.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::bufferization::BufferizationDialect"];
}

def FuseEpilogues : Pass<"fuse-epilogues", "mlir::ModuleOp"> {
  let summary = "elementwise consumers of a contraction move into its epilogue";
  let description = [{
      y = contract(x, w); z = f(y, r)  ->  z = contract(x, w) with the epilogue f(sum, r)

    y is never stored. Fires when the contraction has no other user.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

//===--- bufferize: tensors -> memref ----------------------------------------------------------------------------===//

def OutlineKernels : Pass<"outline-kernels", "mlir::ModuleOp"> {
  let summary = "every piece becomes a function; equal pieces share one";
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def PlanMemory : Pass<"plan-memory", "mlir::ModuleOp"> {
  let summary = "places temporaries in the arena, weights and states in their sections";
  let description = [{
    Adds `talc.offset` to weights and states and `talc.plan` to the module: the exact bytes that a step needs.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

#endif // TALC_PASSES
