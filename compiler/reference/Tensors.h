// SPDX-License-Identifier: Apache-2.0
// The values that the interpreter computes with: activations in double precision, weights as stored.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace talc::reference {

// Activations [rows, columns], row-major.
struct Matrix {
  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(rows * columns) {}

  double &at(int64_t row, int64_t column) { return values[row * columns + column]; }
  double at(int64_t row, int64_t column) const { return values[row * columns + column]; }

  int64_t rows, columns;
  std::vector<double> values;
};

// A weight, row-major; each value is one that the weight's storage format has, unless somebody has changed it.
struct Weight {
  std::vector<int64_t> shape;
  std::vector<double> values;
  std::string blocks = {};  // the block format of its rows, if known; empty: none
};

// The sum of the gradients of a weight, in its shape, row-major.
struct GradientSum {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

// The precision of the inputs of linear layers: double, or the type of a 16-bit weight, as tensor cores have it.
enum class ActivationPrecision { full, asWeights };

using MatrixPtr = std::shared_ptr<const Matrix>;
using WeightPtr = std::shared_ptr<const Weight>;

// The number of rows of the matrix [N, K] that a weight holds: N, or ceil(N/lanes)*lanes for panels [ceil(N/lanes), K,
// lanes].
inline int64_t rowCount(const Weight &weight) {
  return weight.shape[0] * (weight.shape.size() == 3 ? weight.shape[2] : 1);
}

// Row n of the matrix [N, K] that a weight holds.
inline std::vector<double> row(const Weight &weight, int64_t n) {
  int64_t inputs = weight.shape[1], lanes = weight.shape.size() == 3 ? weight.shape[2] : 1;
  std::vector<double> result(inputs);
  for (int64_t k = 0; k < inputs; ++k)
    result[k] = weight.values[(n / lanes * inputs + k) * lanes + n % lanes];
  return result;
}

}  // namespace talc::reference
