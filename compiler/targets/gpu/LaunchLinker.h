// SPDX-License-Identifier: Apache-2.0
// Makes tables of launches and texts (runtime/device/gpu/LaunchTable.h) of a program's objects.
#pragma once

#include "compiler/targets/Target.h"
#include "runtime/device/gpu/LaunchTable.h"

namespace talc::gpu {

// Makes one text of the codes of kernels.
using JoinCodes = llvm::function_ref<std::string(llvm::ArrayRef<std::string> codes)>;

// An entry as one kernel that does the tasks of all (LaunchTable.h: persistent kernels).
struct PersistentKernel {
  std::string code;
  uint32_t threads, dynamicBytes, mostRows;
};
// A kernel of an entry.
struct EntryKernel {
  uint32_t number;
  artifact::LaunchKernel kernel;
  uint32_t registers;    // that a thread may take; 0: nothing is said
  std::string taskCode;  // does one task
};
// Why there is no such kernel, or nothing.
using MakePersistent = llvm::function_ref<std::string(const std::string &name, llvm::ArrayRef<EntryKernel> kernels,
                                                      PersistentKernel &whole)>;

llvm::Expected<targets::LinkedCode> linkLaunches(llvm::ArrayRef<targets::ObjectCode> objects, JoinCodes join,
                                                 MakePersistent makePersistent = nullptr);

// The codes of all kernels, in their order.
llvm::Expected<std::vector<std::string>> kernelCodes(llvm::ArrayRef<targets::ObjectCode> objects,
                                                     MakePersistent makePersistent = nullptr);

}  // namespace talc::gpu
