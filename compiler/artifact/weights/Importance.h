// SPDX-License-Identifier: Apache-2.0
// The weights of errors in the columns of a matrix (importance), and matrices that are quantized accordingly.
#pragma once

#include "compiler/artifact/weights/WeightValues.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/Error.h"

namespace talc {

// Refers to the attribute of the matrix, which has to outlive it.
class Importance {
public:
  // Checks the attribute; empty if the matrix has none.
  static llvm::Expected<Importance> of(WeightOp matrix, MatrixShape shape);

  // The importance of each column in a row; null if the matrix has none.
  const float *row(int64_t number) const { return all.empty() ? nullptr : &all[number / rowsOfPart * columns]; }

private:
  llvm::ArrayRef<float> all;
  int64_t rowsOfPart = 1, columns = 0;
};

// Quantizes a row, whose mean square is `meanSquare`, to blocks of a format; without importance by its plain
// definition.
bool encodeRow(const StorageFormat &format, const float *values, int64_t count, const float *importance,
               float meanSquare, uint8_t *bytes);
float meanSquare(const float *row, int64_t columns);

// `values` quantized to blocks of a format so that errors count by importance. Recipes over them read these blocks.
WeightValuesPtr importanceWeightedValues(WeightValuesPtr values, const StorageFormat &format, Importance importance);

}  // namespace talc
