// SPDX-License-Identifier: Apache-2.0
// Emits kernels of the LLVM dialect as PTX.
#pragma once

#include "compiler/targets/ObjectCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace talc::nvptx {

// To be called before the first kernel is emitted.
void registerTranslations(mlir::MLIRContext &context);

struct KernelPtx {
  targets::CodeListing listing;  // optimized LLVM IR and PTX of the kernel, with its shared memory
  std::string task;              // PTX of the function that does one task; empty: there is none
  uint64_t taskSharedBytes = 0;  // that the task is to be given
};

// Emits a kernel for GPUs from `chip` on, and its task function, if that is possible.
llvm::Expected<KernelPtx> emitKernel(mlir::LLVM::LLVMFuncOp kernel, mlir::ModuleOp module, const std::string &chip,
                                     bool withTask);

}  // namespace talc::nvptx
