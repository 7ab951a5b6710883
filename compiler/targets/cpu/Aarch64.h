// SPDX-License-Identifier: Apache-2.0
// The 64-bit ARM processors that talc has code for: those with NEON and half-precision arithmetic.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::cpu {

// aarch64, aarch64+dotprod, or LLVM's name of a processor with at least the features of the first; native on such a
// machine. A null pointer for another name.
llvm::Expected<targets::TargetPtr> parseAarch64(llvm::StringRef name);
std::vector<std::string> aarch64Names();

}  // namespace talc::cpu
