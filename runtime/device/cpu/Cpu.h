// SPDX-License-Identifier: Apache-2.0
// Which x86-64 level (psABI) the processor and the operating system support.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

namespace talc {

// The detected level, lowered by TALC_CPU_LEVEL=v2|v3|v4 when that is set. Any: below v2, or another architecture.
artifact::CpuLevel detectCpuLevel();

const char *cpuLevelName(artifact::CpuLevel level);

// The features that make up a level, for messages.
const char *cpuLevelFeatures(artifact::CpuLevel level);

}  // namespace talc
