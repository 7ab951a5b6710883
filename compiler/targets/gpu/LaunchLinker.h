// SPDX-License-Identifier: Apache-2.0
// Makes a table of launches (runtime/device/gpu/LaunchTable.h) and one code of a program's objects.
#pragma once

#include "compiler/targets/Target.h"
#include "runtime/device/gpu/LaunchTable.h"

namespace talc::gpu {

// Makes one of the codes of all kernels.
using JoinCodes = llvm::function_ref<std::string(llvm::ArrayRef<std::string> codes)>;

// A phase as one kernel that does the tasks of all (LaunchTable.h: persistent kernels).
struct PersistentKernel {
  std::string code;
  uint32_t threads, dynamicBytes, mostRows;
};
// `pieces`: the kernels of a phase and their numbers; all have a function for one task. Nothing: there is no such
// kernel.
using MakePersistent = llvm::function_ref<std::optional<PersistentKernel>(
    const std::string &name, llvm::ArrayRef<std::pair<uint32_t, artifact::LaunchKernel>> pieces)>;

llvm::Expected<targets::LinkedCode> linkLaunches(llvm::ArrayRef<targets::ObjectCode> objects, JoinCodes join,
                                                 MakePersistent makePersistent = nullptr);

// The codes of all kernels, in their order.
llvm::Expected<std::vector<std::string>> kernelCodes(llvm::ArrayRef<targets::ObjectCode> objects,
                                                     MakePersistent makePersistent = nullptr);

}  // namespace talc::gpu
