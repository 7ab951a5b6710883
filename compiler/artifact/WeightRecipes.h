// SPDX-License-Identifier: Apache-2.0
// Weights that follow from other weights. The recipes are defined in dialects/talc/TalcDialect.td; shapes must fit.
#pragma once

#include "compiler/artifact/WeightValues.h"

#include <vector>

namespace talc {

WeightValuesPtr transposedValues(WeightValuesPtr source);
// Rows of all sources one after the other.
WeightValuesPtr concatenatedValues(std::vector<WeightValuesPtr> sources);
// `group` rows of each of two sources in turn, the last group filled up with zeros.
WeightValuesPtr interleavedValues(WeightValuesPtr first, WeightValuesPtr second, int64_t group);
// [panels, depth * lanes].
WeightValuesPtr packedValues(WeightValuesPtr source, int64_t lanes);
// Zero rows appended.
WeightValuesPtr paddedValues(WeightValuesPtr source, int64_t rows);
// Row p: cos(p * frequencies), then sin(p * frequencies).
WeightValuesPtr rotaryTable(std::vector<double> frequencies, int64_t positions);
// Sines and cosines of row * 10000^(-2i/width): all sines and then all cosines, or each sine beside its cosine.
WeightValuesPtr sinusoidTable(int64_t positions, int64_t width, bool interleaved);
// Row h, column c: source(rows[c], h).
WeightValuesPtr gatheredValues(WeightValuesPtr source, std::vector<int32_t> rows);

}  // namespace talc
