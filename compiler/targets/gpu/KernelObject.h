// SPDX-License-Identifier: Apache-2.0
// What a function becomes before it is linked: JSON, so that the cache can keep functions one by one.
//
//   {"kernel": "norm_0", "threads": 128, "registers": 0, "arguments": 5, "shared": 128, "grid": {...},
//    "code": "...hexadecimal...", "task": "...hexadecimal..."}
//   {"list": "prefill", "launches": [{"call": "norm_0", "arguments": [{"argument": 0}, {"base": "arena", ...}],
//                                    "waits": 1}]}
#pragma once

#include "compiler/targets/Target.h"

namespace talc::gpu {

// Whether a function, or what has become of it, has code of its own, or is a list of launches.
bool isKernel(mlir::Operation *op);
bool isList(mlir::Operation *op);

// What only the target knows of a kernel.
struct KernelCode {
  int64_t arguments = 0, sharedBytes = 0;
  std::string code;
  std::string taskCode;  // does one task, for persistent kernels; empty: there is none
};

// What a kernel takes of a GPU, for readers.
std::string resourcesOf(mlir::Operation *kernel, int64_t sharedBytes);

using EmitKernel = llvm::function_ref<llvm::Expected<KernelCode>(mlir::Operation *kernel)>;
using ListKernel = llvm::function_ref<llvm::Expected<targets::CodeListing>(mlir::Operation *kernel)>;

// Of all kernels and lists, in their order. Kernels are made on all processors.
llvm::Expected<std::vector<targets::ObjectCode>> makeObjects(mlir::ModuleOp module, EmitKernel emit);
llvm::Expected<std::vector<targets::CodeListing>> makeListings(mlir::ModuleOp module, ListKernel list);

}  // namespace talc::gpu
