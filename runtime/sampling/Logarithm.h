// SPDX-License-Identifier: Apache-2.0
// Logarithms, powers and sums of exponentials from additions, multiplications and divisions alone: the same bits on
// every machine.
#pragma once

#include "runtime/sampling/Exponential.h"

namespace talc {

// ln x for x > 0, finite and normal; relative error below 1e-14.
//   x = 2^e * m,  m in [0.7, 1.41),  ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...),  s = (m - 1) / (m + 1)
inline double deterministicLog(double x) {
  constexpr double ln2 = 0.69314718055994530942;
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  auto exponent = static_cast<int64_t>(bits >> 52) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
  double m;
  memcpy(&m, &bits, sizeof(m));
  if (m > 1.41) {
    m *= 0.5;
    ++exponent;
  }
  double s = (m - 1) / (m + 1), square = s * s, sum = 0;
  for (int term = 23; term > 0; term -= 2)
    sum = sum * square + 1.0 / term;
  return static_cast<double>(exponent) * ln2 + 2 * s * sum;
}

// base^exponent for base >= 1; exact for the exponents 0 and 1.
inline double deterministicPower(double base, double exponent) {
  if (exponent == 0 || exponent == 1)
    return exponent == 0 ? 1 : base;
  double logarithm = exponent * deterministicLog(base);
  return logarithm <= 0 ? deterministicExp(logarithm) : 1 / deterministicExp(-logarithm);
}

}  // namespace talc
