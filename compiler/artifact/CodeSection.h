// SPDX-License-Identifier: Apache-2.0
// The section of an artifact that holds the code for one target: what a machine needs for it, and the code itself.
#pragma once

#include "compiler/targets/Target.h"

#include "llvm/ADT/StringMap.h"

namespace talc {

struct CodeSection {
  const targets::Target &target;
  targets::LinkedCode linked;
  // For the manifest: what running code calls, as mark-kernels listed it, null if nothing did; and registers that a
  // kernel spills, by its name.
  mlir::ArrayAttr kernels;
  llvm::StringMap<int64_t> spills;

  // As runtime/artifact/ArtifactFormat.h says.
  llvm::Expected<std::vector<uint8_t>> bytes() const;
};

// Copies a name into the array of a struct of ArtifactFormat.h, which is zero.
llvm::Error writeName(llvm::StringRef name, llvm::MutableArrayRef<char> array);

}  // namespace talc
