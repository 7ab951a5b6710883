// SPDX-License-Identifier: Apache-2.0
// The values that recipes make of weights. dialects/talc/TalcDialect.td defines the recipes; shapes must fit.
#pragma once

#include "compiler/artifact/weights/RotaryFrequencies.h"
#include "compiler/artifact/weights/WeightValues.h"

#include "dialects/talc/TalcDialect.h"

#include <functional>
#include <vector>

namespace talc {

WeightValuesPtr transposedValues(WeightValuesPtr source);
// The rows of all sources one after the other.
WeightValuesPtr concatenatedValues(std::vector<WeightValuesPtr> sources);
// `group` rows of each of two sources in turn; the last group is padded with zeros.
WeightValuesPtr interleavedValues(WeightValuesPtr first, WeightValuesPtr second, int64_t group);
// [panels, depth * lanes].
WeightValuesPtr packedValues(WeightValuesPtr source, int64_t lanes);
// The source with zero rows appended.
WeightValuesPtr paddedValues(WeightValuesPtr source, int64_t rows);
// Rows in another order, or a selection of them: row r is source(row(r)).
WeightValuesPtr chosenRows(WeightValuesPtr source, int64_t rows, std::function<int64_t(int64_t)> row);
// Every value plus a number.
WeightValuesPtr plusValues(WeightValuesPtr source, double value);
// Row h, column c: source(rows[c], h).
WeightValuesPtr gatheredValues(WeightValuesPtr source, std::vector<int32_t> rows);

// Tables that depend on no other weight (PositionTables.cpp).
// Row p: cos(p * frequencies), then sin(p * frequencies), times the amplitude.
WeightValuesPtr rotaryTable(RotaryFrequencies frequencies, MatrixShape shape, int64_t digits);
// #talc.sinusoid_table.
WeightValuesPtr sinusoidTable(MatrixShape shape, SinusoidLayout layout, int64_t blank);
// #talc.alibi by distance, or by position where `rounded` is not 0.
WeightValuesPtr alibiTable(MatrixShape shape, double rounded);
// #talc.relative_keys of a projection, and its products with the difference of two vectors.
WeightValuesPtr relativeKeys(WeightValuesPtr projection, int64_t heads, int64_t distances, double scale);
WeightValuesPtr relativeKeys(WeightValuesPtr projection, WeightValuesPtr from, WeightValuesPtr to, int64_t heads,
                             int64_t distances, double scale);

}  // namespace talc
