// SPDX-License-Identifier: Apache-2.0
// Features of the CPU and the operating system, by the names that code sections use.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include <string>

namespace talc {

// Levels of the x86-64 psABI. Any: below v2, or another architecture.
enum class CpuLevel : int32_t { Any = 0, X86_64_v2 = 2, X86_64_v3 = 3, X86_64_v4 = 4 };

// The family of code that this CPU runs (CodeHeader::family).
const char *cpuFamily();

// Whether the CPU has a feature; false for an unknown name. Features above the level of TALC_CPU_LEVEL=v2|v3|v4 count
// as absent.
bool hasCpuFeature(const char *name);

// The highest level whose features are all present, and the lowest that has everything that code needs.
CpuLevel detectCpuLevel();
CpuLevel requiredCpuLevel(const artifact::CodeHeader &code);

// Explains why this CPU does not run code of its family for `target`, and what to do.
std::string explainUnsupported(const artifact::CodeHeader &code, const char *target);

// The features that make up a level, for messages.
const char *cpuLevelFeatures(CpuLevel level);

}  // namespace talc
