// SPDX-License-Identifier: Apache-2.0
// The section of an artifact with the code for one target: the requirements on a machine, and the code itself.
#pragma once

#include "compiler/targets/Target.h"

#include "llvm/ADT/StringMap.h"

namespace talc {

struct CodeSection {
  const targets::Target &target;
  targets::LinkedCode linked;
  // For the manifest: the kernels that the code calls, as listed by mark-kernels (null if that did not run), and the
  // registers that each kernel spills, by its name.
  mlir::ArrayAttr kernels;
  llvm::StringMap<int64_t> spills;

  // The bytes of the section, in the format of runtime/artifact/ArtifactFormat.h.
  llvm::Expected<std::vector<uint8_t>> bytes() const;
};

// Copies a name into a zeroed array in a struct of ArtifactFormat.h.
llvm::Error writeName(llvm::StringRef name, llvm::MutableArrayRef<char> array);

}  // namespace talc
