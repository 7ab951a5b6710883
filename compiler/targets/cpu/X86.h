// SPDX-License-Identifier: Apache-2.0
// The x86-64 processors that talc has code for: those with AVX2 and FMA.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::cpu {

// native, with the caches of this machine; x86-64-v3, x86-64-v4, or LLVM's name of a processor with at least x86-64-v3,
// with the caches of common processors of its level. A null pointer for another name.
llvm::Expected<targets::TargetPtr> parseX86(llvm::StringRef name);
std::vector<std::string> x86Names();

}  // namespace talc::cpu
