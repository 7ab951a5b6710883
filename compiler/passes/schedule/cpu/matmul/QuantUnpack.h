// SPDX-License-Identifier: Apache-2.0
// Unpacks codes and scales of a packed weight's quant blocks for int8 dot products.
#pragma once

#include "compiler/passes/schedule/storage/BlockReader.h"

namespace talc {

// Vectors with a value for each lane.
struct GroupScales {
  mlir::Value scale, offset;  // the offset is null if the format has none
  mlir::Value exponent = {};  // if scales are powers of two: that of the scale, as an i32
};

// A format whose values are (code - zero point) * scale + offset.
struct QuantUnpacker {
  std::string_view format;
  int64_t zeroPoint;     // 0 for codes with a sign
  bool isSigned;         // codes are bytes with a sign
  int64_t maxCode;       // codes without a sign begin at 0
  int64_t groupValues;   // neighbors that share a scale, at most 32
  int64_t pairDistance;  // how far apart values lie whose codes share bytes, word by word; 0: none do

  bool hasOffsets, hasPowerScales;
  bool isSlow;  // codes of a word take more than a shift and a mask

  // The codes of four neighbors, the word-th four counted from the reader's place, in a word of each lane, for a tile
  // of so many rows.
  mlir::Value (*codes)(BlockReader &reader, int64_t word, int64_t rows);
  // The scales of a group, counted from the one that the reader's place lies in.
  GroupScales (*scales)(BlockReader &reader, int64_t group);
};

// Neighbors that share a scale in quantized activations.
constexpr int64_t activationGroup = 32;

// Null: kernels convert the format to f32.
const QuantUnpacker *findQuantUnpacker(std::string_view format);

}  // namespace talc
