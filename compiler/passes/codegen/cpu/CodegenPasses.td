// SPDX-License-Identifier: Apache-2.0
// Stage codegen of processors; compiler/passes/Passes.td includes it.

def ConvertStepToLLVM : Pass<"convert-step-to-llvm", "mlir::ModuleOp"> {
  let summary = "what kernels read of the running step becomes loads from struct StepContext";
  let description = [{
    `!kernel.step` becomes a pointer to runtime/device/cpu/StepContext.h, `!talc.state` the state's offset in a slot; entry
    functions get the names that the runtime looks up.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}
