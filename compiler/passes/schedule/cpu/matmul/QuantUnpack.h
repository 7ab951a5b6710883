// SPDX-License-Identifier: Apache-2.0
// How dot products take the blocks of a weight that is stored in panels: as integers with scales.
#pragma once

#include "compiler/passes/schedule/storage/BlockReader.h"

namespace talc {

// A vector of one value of each lane.
struct GroupScales {
  mlir::Value step, offset;   // the offset is null where there is none
  mlir::Value exponent = {};  // if a format's steps are powers of two: that of the step, as an i32
};

// A value is (level - zero) * step + offset.
struct QuantUnpacker {
  std::string_view format;
  int64_t zero;   // 0 of levels with a sign
  bool isSigned;  // whether levels are bytes with a sign
  int64_t most;   // the greatest level; those without a sign begin at 0
  int64_t group;  // neighbours that share a step, no more than 32
  int64_t apart;  // how far apart values lie whose levels share bytes, word by word; 0: none do

  bool offsets, powers;  // whether steps have offsets, or exponents
  bool laborious;        // levels of a word take more than a shift and a mask

  // The levels of four neighbours, the word-th four from the reader's place on, in a word of each lane, for so many
  // rows.
  mlir::Value (*levels)(BlockReader &reader, int64_t word, int64_t rows);
  // Of the group that the reader's place lies in, or of the next one but `further`.
  GroupScales (*scales)(BlockReader &reader, int64_t further);
};

// Neighbours that share a scale in rounded activations.
constexpr int64_t integerStep = 32;

// Null: kernels widen the format.
const QuantUnpacker *quantUnpacker(std::string_view format);

}  // namespace talc
