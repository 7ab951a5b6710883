// SPDX-License-Identifier: Apache-2.0
// The operands of a product: random values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace talc::bench {

struct Matrices {
  int64_t rows, depth, columns;
  std::vector<float> x, weight, result;

  Matrices(int64_t rows, int64_t depth, int64_t columns)
      : rows(rows), depth(depth), columns(columns), x(rows * depth), weight(depth * columns), result(rows * columns) {
    uint32_t state = 1;
    for (auto *values : {&x, &weight})
      for (float &value : *values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
      }
  }
};

using MatricesPtr = std::shared_ptr<Matrices>;

}  // namespace talc::bench
