// SPDX-License-Identifier: Apache-2.0
// CONTRACT between compiler and runtime: how rotary tables (ArtifactFormat.h, RotaryTable) are composed. The compiler
// finds the corrections by the same arithmetic, so that tables have the bits of rounded cosines and sines on every
// machine, without libm.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

namespace talc {

// Row a * stride + b of a table, without corrections: `low` and `high` are the cosines and sines of b and of
// a * stride.
inline void composeRotaryRow(const artifact::RotaryTable &table, const double *low, const double *high, float *row) {
#pragma STDC FP_CONTRACT OFF
  for (uint32_t i = 0, half = table.half; i < half; ++i) {
    const double cosine = high[i] * low[i] - high[half + i] * low[half + i];
    const double sine = high[half + i] * low[i] + high[i] * low[half + i];
    row[i] = static_cast<float>(table.amplitude * cosine);
    row[half + i] = static_cast<float>(table.amplitude * sine);
  }
}

// Writes all tables of a RotaryTables section to `tables`, which has `tableBytes` bytes and is aligned to 64. Returns
// null, or what is wrong with the section.
const char *makeRotaryTables(const unsigned char *section, uint64_t size, unsigned char *tables, uint64_t tableBytes);

}  // namespace talc
