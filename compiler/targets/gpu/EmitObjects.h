// SPDX-License-Identifier: Apache-2.0
// Makes an object of every kernel and of every list of launches in a module. A target says how a kernel is emitted.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::gpu {

// Whether a function, or what has become of it, has code of its own, or is a list of launches.
bool isKernel(mlir::Operation *op);
bool isLaunchList(mlir::Operation *op);

// The code of a kernel, which the target emits.
struct KernelCode {
  int64_t arguments = 0, sharedBytes = 0;
  std::string code;
  std::string taskCode;  // does one task, for persistent kernels; empty: there is none
};

// The resources that a workgroup takes, for listings.
std::string describeResources(mlir::Operation *kernel, int64_t sharedBytes);

using EmitKernel = llvm::function_ref<llvm::Expected<KernelCode>(mlir::Operation *kernel)>;
using ListKernel = llvm::function_ref<llvm::Expected<targets::CodeListing>(mlir::Operation *kernel)>;

// Make objects and listings of all kernels and lists, in their order. Kernels are emitted in parallel.
llvm::Expected<std::vector<targets::ObjectCode>> makeObjects(mlir::ModuleOp module, EmitKernel emit);
llvm::Expected<std::vector<targets::CodeListing>> makeListings(mlir::ModuleOp module, ListKernel list);

}  // namespace talc::gpu
