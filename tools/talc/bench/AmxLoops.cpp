// SPDX-License-Identifier: Apache-2.0
// Loops for the matrix registers of AMX.
#if defined(__x86_64__)
#include "tools/talc/bench/PeakLoops.h"

#include <immintrin.h>

namespace talc::bench {

namespace {

// As many accumulators as hide the latency of a product.
constexpr int64_t sums = 4, rows = 16, rowBytes = 64;

struct alignas(64) Configuration {
  uint8_t palette = 1, reserved[15] = {};
  uint16_t bytes[16] = {rowBytes, rowBytes, rowBytes, rowBytes, rowBytes, rowBytes};
  uint8_t tileRows[16] = {rows, rows, rows, rows, rows, rows};
};

__attribute__((target("amx-tile"))) void begin() {
  Configuration configuration;
  _tile_loadconfig(&configuration);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
}

__attribute__((target("amx-tile,amx-bf16"))) void multiplyPairs(int64_t rounds) {
  begin();
  for (int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
}

__attribute__((target("amx-tile,amx-int8"))) void multiplyBytes(int64_t rounds) {
  begin();
  for (int64_t round = 0; round < rounds; ++round) {
    _tile_dpbssd(0, 4, 5);
    _tile_dpbssd(1, 4, 5);
    _tile_dpbssd(2, 4, 5);
    _tile_dpbssd(3, 4, 5);
  }
  _tile_release();
}

// A multiply-add counts as two.
constexpr int64_t countOperations(int64_t factorBytes) {
  return sums * 2 * rows * (rowBytes / 4) * (rowBytes / factorBytes);
}

}  // namespace

const PeakLoop amxBf16 = {"bf16", {"bf16"}, "AMX", countOperations(2), multiplyPairs};
const PeakLoop amxInt8 = {"int8", {"q8_sums", "q8_256_sums", "q8_k_sums"}, "AMX", countOperations(1), multiplyBytes};

}  // namespace talc::bench
#endif
