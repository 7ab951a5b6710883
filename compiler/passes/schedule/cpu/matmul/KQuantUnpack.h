// SPDX-License-Identifier: Apache-2.0
// How dot products take a weight in panels whose blocks have 256 values: integers whose scales are integers, too.
#pragma once

#include "compiler/passes/schedule/storage/BlockReader.h"

namespace talc {

// What values of a block begin at, below zero: minima times a step. A minimum of every 32 values, of four neighbouring
// groups in a word of each lane.
struct KQuantMinima {
  mlir::Value minima[2], step;
};

// A value is (level - zero) * step - offset. Values whose levels share words are taken together:
//
//   pair of stretches     0         1          2            3
//   q4_k and q5_k, k      0 + 32    64 + 96    128 + 160    192 + 224
//   q6_k, k               0 + 64    32 + 96    128 + 192    160 + 224
struct KQuantUnpacker {
  static constexpr int64_t values = 256, stretch = 32, pairs = 4;

  std::string_view format;
  int64_t group;                        // neighbours that share a step
  int64_t most;                         // the greatest level; they begin at 0
  bool aroundZero;                      // levels count from 32 on: sums begin with what rounded rows have for that
  int64_t apart;                        // of the stretches of a pair
  int64_t firstOfLevels, behindLevels;  // fields of the format
  bool laborious;                       // levels of a word take more than a shift and a mask

  bool isLevels(int64_t field) const { return firstOfLevels <= field && field < behindLevels; }

  // The first place of a pair.
  mlir::Value (*firstOf)(Emitter &e, mlir::Value pair);
  // Of a pair's first or second stretch the levels of four neighbours, the word-th four, in a word of each lane.
  mlir::Value (*levels)(BlockReader &reader, mlir::Value pair, int64_t second, int64_t word);
  // Of every group, in ascending order.
  Emitter::Values (*steps)(BlockReader &reader);
  KQuantMinima (*offsets)(BlockReader &reader);  // null: there are none
};

// Null: the format is none of these.
const KQuantUnpacker *kQuantUnpacker(std::string_view format);

}  // namespace talc
