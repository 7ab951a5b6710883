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

def CompactArguments : Pass<"compact-arguments", "mlir::ModuleOp"> {
  let summary = "a buffer is passed as its address, and the sizes, strides and offset that its type does not tell";
  let description = [{
      func.call @kernel(%x) : (memref<?x64xf32>) -> ()  ->  func.call @kernel(%address, %rows) : (!llvm.ptr, i64) -> ()
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}
