// SPDX-License-Identifier: Apache-2.0
// Links the objects of a program to launch tables and code modules (runtime/device/gpu/LaunchTable.h).
#pragma once

#include "compiler/targets/Target.h"
#include "runtime/device/gpu/LaunchTable.h"

namespace talc::gpu {

// Links the PTX or SPIR-V of kernels to one module.
using LinkModules = llvm::function_ref<llvm::Expected<std::string>(llvm::ArrayRef<std::string> modules)>;

// An entry as one kernel that does the tasks of all its kernels (LaunchTable.h: persistent kernels).
struct PersistentKernel {
  std::string code;
  uint32_t threads, dynamicBytes, maxTokens;
};
// A kernel of an entry.
struct EntryKernel {
  uint32_t index;
  artifact::LaunchKernel kernel;
  uint32_t maxRegisters;  // of a thread; 0: no limit
  std::string taskCode;   // does one task
};
// Returns why there is no such kernel, or nothing.
using MakePersistent = llvm::function_ref<std::string(const std::string &name, llvm::ArrayRef<EntryKernel> kernels,
                                                      PersistentKernel &persistent)>;

llvm::Expected<targets::LinkedCode> linkLaunches(llvm::ArrayRef<targets::ObjectCode> objects, LinkModules linkModules,
                                                 MakePersistent makePersistent = nullptr);

// The modules of all kernels, in their order.
llvm::Expected<std::vector<std::string>> getKernelModules(llvm::ArrayRef<targets::ObjectCode> objects,
                                                          MakePersistent makePersistent = nullptr);

}  // namespace talc::gpu
