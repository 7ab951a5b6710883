// SPDX-License-Identifier: Apache-2.0
// The shapes of tiles of int8 dot products: beside an f32 accumulator, every pair of a row and a vector has an i32 sum.
#include "compiler/passes/schedule/cpu/matmul/IntegerMicrokernel.h"

using namespace mlir;

namespace talc {

// If words of x come from lanes, those of four rows take eight registers.
int64_t IntegerMicrokernel::accumulators() const {
  if (traits.hasLargeRegisterFile())
    return 12;
  if (traits.fmaFromLane)
    return 8;
  return hasSmallCodes ? 6 : 4;
}

// With two vectors to a row, half of its products find their word in a register: a processor loads two words in the
// time of two products, and fewer where both lie in the same bank of L1, as those of neighboring rows do. Where that
// would leave two rows, codes would be unpacked for too few: then each row has one vector.
int64_t IntegerMicrokernel::tileRows() const {
  constexpr int64_t minRows = 3;
  int64_t rows = accumulators() / 2;
  return rows < minRows ? accumulators() : rows;
}

int64_t IntegerMicrokernel::tileColumns(int64_t rows) const {
  return traits.lanes * llvm::bit_floor<uint64_t>(std::max<int64_t>(accumulators() / rows, 1));
}

// A panel is one stream: of two streams, read in turns, hardware prefetchers fetch less ahead.
int64_t IntegerMicrokernel::rowColumns() const {
  constexpr int64_t vectors = 4;
  return vectors * traits.lanes;
}

// If three rows are a full tile, four rows pass a weight once with a vector each.
int64_t IntegerMicrokernel::tallTileRows() const {
  return traits.hasFewRegisters() && hasSmallCodes ? 4 : 0;
}

// A quarter of L2 holds all of k, but not of deep weights. Each block loads and stores the sums, and result rows that
// lie 4 KiB apart compete for one set of L1. Activations may come from L3 meanwhile: a tile uses each of their bytes
// for all columns of a panel.
int64_t IntegerMicrokernel::blockK(int64_t k, int64_t kUnit, int64_t lanes, int64_t l2Bytes) const {
  constexpr int64_t minK = 256;
  for (int64_t blocks = 1; k / blocks >= minK; ++blocks) {
    int64_t size = k / blocks;
    if (k % blocks == 0 && size % kUnit == 0 && weight.byteSize(size * lanes) <= l2Bytes / 4)
      return size;
  }
  return k;
}

// With few registers a tile of two or three rows has the columns of one row.
int64_t IntegerMicrokernel::prefetchRows() const {
  return traits.hasFewRegisters() ? 3 : 1;
}

// Small codes behind their scales are a stream. Of bytes, prefetches gain some percent, and q6_k has its scales behind
// its codes.
bool IntegerMicrokernel::isHardwarePrefetched() const {
  return hasSmallCodes;
}

// Large register files share a vector of codes among more rows, so that it takes more of them, and a shift and a mask
// cost less than a load.
int64_t IntegerMicrokernel::minRowsToDequantizeCodes(bool isSlow) const {
  if (traits.hasLargeRegisterFile())
    return isSlow ? 16 : 0;
  if (traits.fmaFromLane)
    return 0;
  return isSlow ? 8 : 16;
}

// With a large register file, a share of few tiles would be too many lines at once, and iterations have units to spare.
bool IntegerMicrokernel::prefetchesSharesFirst() const {
  return !traits.hasLargeRegisterFile();
}

// Such tiles fill all registers. With other codes dequantized panels win little, and tiles of few rows beside them
// lose.
bool IntegerMicrokernel::keepsSourceOrder() const {
  return traits.hasFewRegisters() && hasSmallCodes;
}

}  // namespace talc
