// SPDX-License-Identifier: Apache-2.0
// What a tile that reads a weight once fetches ahead of blocks of 256 values: what it loads, in that order, some blocks
// later.
//
//                            scales   levels of pair 0   1   2   3     of a block
//   while steps are unpacked   x
//   with each pair                            x            of every field a quarter
//
// In the order of addresses, lines would come too late of a format whose scales lie behind the levels (q6_k), and
// others while nothing waits for them. Where a processor drops what it has no room for, all is fetched again half a
// block ahead.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

class KQuantPrefetch {
public:
  using Value = mlir::Value;

  // Of the block that begins at k of the tile.
  KQuantPrefetch(const MatmulContext &c, const KQuantUnpacker &blocks, const TileOperands &tile, Value k);

  // Whether the tile is one that reads a weight once, on such a processor, and takes all lanes of its panels.
  static bool serve(const MatmulContext &c, const TileOperands &tile);

  void fetchAtBegin(PrefetchSlot turn) const { fetch(scales, turn); }
  // What is fetched in the turns of a pair.
  struct Lines {
    Value address;  // of the first one
    int64_t count;
  };
  std::vector<Lines> ofPair(Value pair) const;
  void fetch(llvm::ArrayRef<Lines> lines, PrefetchSlot turn) const;

private:
  // Where the block begins that lies so many behind this one.
  Value blockBehind(Value begin, Value count) const;
  // A part of a field's lines, of a block.
  Lines linesOf(const BlockField &field, Value begin, Value part, int64_t parts) const;

  Emitter &e;
  const StorageFormat &format;
  const KQuantUnpacker &blocks;
  const int64_t lanes, level, ahead;  // ahead: blocks
  const Value bytes;
  Emitter::Values begins;  // of the tile's blocks, panel by panel
  std::vector<Lines> scales;
};

}  // namespace talc
