// SPDX-License-Identifier: Apache-2.0
// An entry as one cooperative kernel.
#pragma once

#include "compiler/passes/schedule/gpu/GpuFacts.h"
#include "compiler/targets/gpu/LaunchLinker.h"

namespace talc::nvptx {

// The declaration of shared memory that a module of persistent kernels begins with.
extern const char *const persistentDeclarations;

// Fails, with the reason, if a kernel needs more shared memory than a workgroup has on every GPU.
std::string makePersistentKernel(const std::string &name, llvm::ArrayRef<gpu::EntryKernel> kernels,
                                 const GpuFacts &facts, gpu::PersistentKernel &persistent);

}  // namespace talc::nvptx
