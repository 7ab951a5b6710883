// SPDX-License-Identifier: Apache-2.0
// e^x from additions and multiplications alone, so that every machine computes the same bits.
//
// The C library chooses among variants by CPU (with and without fused multiply-add), whose last bits differ. A
// drawn token would then depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace talc {

// For x <= 0, relative error below 1e-15; 0 below -700 and for NaN.
//   e^x = 2^n * e^r,  n = round(x / ln 2),  r = x - n ln 2 in two parts,  e^r by its Taylor series to r^13
inline double deterministicExp(double x) {
  if (!(x > -700))
    return 0;
  constexpr double log2e = 1.4426950408889634074, ln2High = 6.93147180369123816490e-01,
                   ln2Low = 1.90821492927058770002e-10;
  auto n = static_cast<int64_t>(x * log2e - 0.5);
  double r = (x - static_cast<double>(n) * ln2High) - static_cast<double>(n) * ln2Low;
  double sum = 1;
  for (int term = 13; term > 0; --term)
    sum = 1 + sum * r / term;
  uint64_t bits = static_cast<uint64_t>(n + 1023) << 52;
  double scale;
  memcpy(&scale, &bits, sizeof(scale));
  return sum * scale;
}

// Numbers that a processor works on at once.
constexpr size_t doubleLanes = 4;
typedef double Doubles __attribute__((vector_size(doubleLanes * sizeof(double))));
typedef int64_t Integers __attribute__((vector_size(doubleLanes * sizeof(int64_t))));
typedef int32_t ShortIntegers __attribute__((vector_size(doubleLanes * sizeof(int32_t))));

// deterministicExp of each number, by the same operations: the same bits.
static inline Doubles deterministicExps(Doubles x) {
  constexpr double log2e = 1.4426950408889634074, ln2High = 6.93147180369123816490e-01,
                   ln2Low = 1.90821492927058770002e-10;
  Integers isLarge = x > -700.0;  // false for NaN
  x = isLarge ? x : Doubles{};
  ShortIntegers n = __builtin_convertvector(x * log2e - 0.5, ShortIntegers);
  Doubles whole = __builtin_convertvector(n, Doubles);
  Doubles r = (x - whole * ln2High) - whole * ln2Low, sum = Doubles{} + 1;
  for (int term = 13; term > 0; --term)
    sum = 1.0 + sum * r / static_cast<double>(term);
  Integers bits = (__builtin_convertvector(n, Integers) + 1023) << 52;
  Doubles scale;
  memcpy(&scale, &bits, sizeof(scale));
  return isLarge ? sum * scale : Doubles{};
}

}  // namespace talc
