// SPDX-License-Identifier: Apache-2.0
// Reads the section with the layout of a slot of the KV cache.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include <vector>

namespace talc {

// Returns null when the runs lie inside a slot and agree with the model info, else what is wrong.
const char *readKvRuns(const unsigned char *bytes, uint64_t size, const artifact::ModelInfo &facts,
                       std::vector<artifact::KvRun> &runs);

// The bytes that tokens [first, end) of a sequence, or of a source, take in a slot.
uint64_t kvBytes(const std::vector<artifact::KvRun> &runs, uint64_t group, uint64_t first, uint64_t end, bool ofSource);

}  // namespace talc
