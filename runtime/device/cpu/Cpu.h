// SPDX-License-Identifier: Apache-2.0
// What the processor and the operating system support, by the names that sections of code use.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include <string>

namespace talc {

// Levels of the x86-64 psABI. Any: below v2, or another architecture.
enum class CpuLevel : int32_t { Any = 0, X86_64_v2 = 2, X86_64_v3 = 3, X86_64_v4 = 4 };

// The family of code that this processor runs, as CodeHeader::family names it.
const char *cpuFamily();

// Features above the level TALC_CPU_LEVEL=v2|v3|v4 count as absent when that is set. False for an unknown name.
bool hasCpuFeature(const char *name);

// The highest level whose features are all there, and the lowest that has all that code needs.
CpuLevel detectCpuLevel();
CpuLevel requiredCpuLevel(const artifact::CodeHeader &code);

// Why this processor does not run code of its family that was made for `target`, and what to do.
std::string explainUnsupported(const artifact::CodeHeader &code, const char *target);

// The features that make up a level, for messages.
const char *cpuLevelFeatures(CpuLevel level);

}  // namespace talc
