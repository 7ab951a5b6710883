// SPDX-License-Identifier: Apache-2.0
// An entry as one cooperative kernel.
#pragma once

#include "compiler/targets/gpu/LaunchLinker.h"

namespace talc::nvptx {

// What texts of persistent kernels refer to; stands once in a text, in front of them.
extern const char *const persistentDeclarations;

// The lines of a text before its first declaration, which all texts for a GPU have alike.
llvm::StringRef headOf(llvm::StringRef text);

// There is none if one of the kernels needs more shared memory than every GPU has for a workgroup; then it says so.
std::string makePersistentKernel(const std::string &name, llvm::ArrayRef<gpu::EntryKernel> kernels,
                                 gpu::PersistentKernel &whole);

}  // namespace talc::nvptx
