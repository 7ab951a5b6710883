// SPDX-License-Identifier: Apache-2.0
// What errors in a matrix count, column by column (importance), and matrices that are rounded accordingly.
#pragma once

#include "compiler/artifact/WeightValues.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/Error.h"

namespace talc {

// As long as the matrix is there.
class Importance {
public:
  // Checked; none if the matrix has no such attribute.
  static llvm::Expected<Importance> of(WeightOp matrix, MatrixShape shape);

  // Of a row, a number for each column; null if there is none.
  const float *row(int64_t number) const { return all.empty() ? nullptr : &all[number / rowsOfPart * columns]; }

private:
  llvm::ArrayRef<float> all;
  int64_t rowsOfPart = 1, columns = 0;
};

// Blocks of neighbours in a row whose mean square is `meanSquare`, of the format's own definition without importance.
bool encodeRow(const StorageFormat &format, const float *values, int64_t count, const float *importance,
               float meanSquare, uint8_t *bytes);
float meanSquare(const float *row, int64_t columns);

// `values` in blocks of a format whose errors count by importance; all that follows from them takes the blocks.
WeightValuesPtr importanceWeightedValues(WeightValuesPtr values, const StorageFormat &format, Importance importance);

}  // namespace talc
