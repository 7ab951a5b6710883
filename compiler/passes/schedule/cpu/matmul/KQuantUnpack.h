// SPDX-License-Identifier: Apache-2.0
// Unpacks k-quants for int8 dot products: blocks of 256 codes whose groups have integer scales of their own.
#pragma once

#include "compiler/passes/schedule/storage/BlockReader.h"

namespace talc {

// The minima of a block, which are subtracted times their scale: one of every 32 values, those of four neighboring
// groups in a word of each lane.
struct KQuantMinima {
  mlir::Value minima[2], scale;
};

// A format whose values are (code - zero point) * scale - minimum. Values whose codes share words are taken together:
//
//   pair of runs          0         1          2            3
//   q3_k to q5_k, k       0 + 32    64 + 96    128 + 160    192 + 224
//   q6_k, k               0 + 64    32 + 96    128 + 192    160 + 224
struct KQuantUnpacker {
  static constexpr int64_t values = 256, runLength = 32, pairs = 4;

  std::string_view format;
  int64_t groupValues;  // neighbors that share a scale
  int64_t maxCode;      // codes are not negative
  bool hasZeroPoint;    // 32, which sums of quantized activations account for
  int64_t runDistance;  // from one run of a pair to the other
  int64_t firstCodeField, codeFieldsEnd;
  bool isSlow;  // codes of a word take more than a shift and a mask

  bool isCodeField(int64_t field) const { return firstCodeField <= field && field < codeFieldsEnd; }

  // The index of a pair's first value.
  mlir::Value (*firstIndex)(Emitter &e, mlir::Value pair);
  // The codes of four neighbors of a pair's first or second run, the word-th four, in a word of each lane.
  mlir::Value (*codes)(BlockReader &reader, mlir::Value pair, int64_t second, int64_t word);
  // The scale of every group, in ascending order.
  Emitter::Values (*scales)(BlockReader &reader);
  KQuantMinima (*minima)(BlockReader &reader);  // null: there are none
};

// Null: the format is not a k-quant.
const KQuantUnpacker *findKQuantUnpacker(std::string_view format);

}  // namespace talc
