// SPDX-License-Identifier: Apache-2.0
// Turns kernels of the llvm dialect into PTX.
#pragma once

#include "compiler/targets/ObjectCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace talc::nvptx {

// Before the first kernel.
void registerTranslations(mlir::MLIRContext &context);

// Optimized LLVM IR and PTX of a kernel with its shared memory, for GPUs from `chip` on. With `taskShared` the
// function for one task stands behind it, if it can be had: so many bytes of shared memory are to be given to it.
llvm::Expected<targets::CodeListing> emitKernel(mlir::LLVM::LLVMFuncOp kernel, mlir::ModuleOp module,
                                                const std::string &chip, std::optional<uint64_t> *taskShared = nullptr);

}  // namespace talc::nvptx
