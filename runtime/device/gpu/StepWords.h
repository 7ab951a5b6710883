// SPDX-License-Identifier: Apache-2.0
// A step as the buffer that kernels read it from: StepTables and its arrays.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/gpu/LaunchTable.h"

#include <vector>

namespace talc {

// Words of the largest step of so many rows of a model with so many results, but for the history of sequences that lie
// in several slots: so many a row, and some more. UINT64_MAX for more than can be counted.
uint64_t maxStepWords(uint64_t rows, uint64_t results);

// Fills `words`. Of the history only what the step's sequences read is there; spans name its places.
void writeStepWords(const Step &step, std::vector<int32_t> &words);

}  // namespace talc
