// SPDX-License-Identifier: Apache-2.0
// Prefetches of k-quants by a tile that reads a weight once: the data that it loads some blocks later, in the same
// order.
//
//                             scales   codes of pair 0   1   2   3     of a block
//   while scales are unpacked   x
//   with each pair                            x            a quarter of every field
//
// In the order of addresses, lines would come too late if a format has its scales behind its codes (q6_k), and other
// lines while nothing waits for them. Where a processor drops prefetches that it has no room for, all are repeated half
// a block ahead.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

class KQuantPrefetch {
public:
  using Value = mlir::Value;

  // For the block that begins at k of the tile.
  KQuantPrefetch(const MatmulContext &c, const KQuantUnpacker &unpacker, const TileOperands &tile, Value k);

  // Whether the tile reads a weight once, on a processor that drops prefetches, and takes all lanes of its panels.
  static bool appliesTo(const MatmulContext &c, const TileOperands &tile);

  // Cache lines, counted from an address.
  struct Lines {
    Value address;
    int64_t count;
  };
  void prefetchScales(PrefetchSlot slot) const { prefetch(scales, slot); }
  // The lines that are prefetched in the slots of a pair.
  std::vector<Lines> linesOfPair(Value pair) const;
  void prefetch(llvm::ArrayRef<Lines> lines, PrefetchSlot slot) const;

private:
  // The address of the block that comes `count` blocks after the one at `begin`.
  Value laterBlock(Value begin, Value count) const;
  // A part of a field's lines in a block.
  Lines fieldLines(const BlockField &field, Value begin, Value part, int64_t parts) const;

  Emitter &e;
  const StorageFormat &format;
  const KQuantUnpacker &unpacker;
  const int64_t lanes, level, blocksAhead;
  const Value bytes;
  Emitter::Values begins;  // of the tile's blocks, panel by panel
  std::vector<Lines> scales;
};

}  // namespace talc
