// SPDX-License-Identifier: Apache-2.0
// The operands of a product: random values.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace talc::bench {

// The greater half of an f32.
struct Bf16 {
  uint16_t bits = 0;

  Bf16() = default;
  explicit Bf16(float value) {
    uint32_t word = 0;
    memcpy(&word, &value, sizeof(word));
    bits = static_cast<uint16_t>(word >> 16);
  }
};

template <typename Number> struct MatmulOperandsOf {
  int64_t rows, depth, columns;
  std::vector<Number> x, weight;
  std::vector<float> result;

  MatmulOperandsOf(int64_t rows, int64_t depth, int64_t columns)
      : rows(rows), depth(depth), columns(columns), x(rows * depth), weight(depth * columns), result(rows * columns) {
    uint32_t state = 1;
    for (auto *values : {&x, &weight})
      for (Number &value : *values) {
        state = state * 1664525u + 1013904223u;
        value = Number(static_cast<float>(state >> 8) * 0x1p-24f - 0.5f);
      }
  }
};

using Matrices = MatmulOperandsOf<float>;
using MatmulOperandsPtr = std::shared_ptr<Matrices>;

}  // namespace talc::bench
