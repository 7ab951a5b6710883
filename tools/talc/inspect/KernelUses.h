// SPDX-License-Identifier: Apache-2.0
// Finds the calls of kernels, the operations of the model that they compute, and the weights that they take.
#pragma once

#include "tools/talc/bench/KernelList.h"

#include "mlir/IR/BuiltinOps.h"

#include <set>
#include <string>
#include <vector>

namespace talc::tools {

// A call of a kernel.
struct KernelUse {
  bench::KernelEntry entry;
  std::string function;             // that contains the call
  std::vector<std::string> stored;  // weights and KV caches among the operands
  std::set<std::string> origins;    // operations of the imported program (getOrigin)
};

// Reads a program after mark-kernels.
std::vector<KernelUse> readKernelUses(mlir::ModuleOp module);

}  // namespace talc::tools
