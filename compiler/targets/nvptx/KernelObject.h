// SPDX-License-Identifier: Apache-2.0
// What a function becomes before it is linked: JSON, so that the cache can keep functions one by one.
//
//   {"kernel": "norm_0", "threads": 128, "arguments": 5, "shared": 128, "grid": {...}, "text": "...PTX..."}
//   {"list": "prefill", "launches": [{"call": "norm_0", "arguments": [{"argument": 0}, {"base": "arena", ...}]}]}
#pragma once

#include "compiler/targets/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace talc::nvptx {

// Whether a function has code of its own, or is a list of launches.
bool isKernel(mlir::LLVM::LLVMFuncOp function);
bool isList(mlir::LLVM::LLVMFuncOp function);

targets::ObjectCode kernelObject(mlir::LLVM::LLVMFuncOp kernel, const std::string &text);
targets::ObjectCode listObject(mlir::LLVM::LLVMFuncOp list);

}  // namespace talc::nvptx
