// SPDX-License-Identifier: Apache-2.0
// The processor that code is generated for, and the facts about it that passes ask for.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace talc::targets {

// Instructions come from `cpu` and `features`, which are no more than the runtime checks for before it runs the code
// (`level`); `tune` only orders them.
struct Target {
  std::string cpu;       // LLVM's name: x86-64-v3, ...
  std::string features;  // LLVM's notation: +avx2,-fma
  std::string tune;      // LLVM's name: znver3, ...
  artifact::CpuLevel level = artifact::CpuLevel::Any;
  unsigned vectorLanes = 8;  // f32 lanes of a vector register
  // Of L2. It decides in which order results are computed, never what they are.
  int64_t cacheBytes = 512 << 10;
};

// native, with the caches of this machine; x86-64-v3, x86-64-v4, or LLVM's name of a processor with at least x86-64-v3
// (AVX2 and FMA), with the caches of common processors of its level.
llvm::Expected<Target> parseTarget(llvm::StringRef name);

// The targets of a list with commas, no two of one CPU level, the highest first.
llvm::Expected<std::vector<Target>> parseTargets(llvm::StringRef list);

}  // namespace talc::targets
