// SPDX-License-Identifier: Apache-2.0
// A tile multiplies rounded rows by the integers of a weight's blocks.
//
//   for each block of 32 k                        of all rows, of vectors of columns
//     for each group that shares a step           the block, or half of it
//       sums = -zero * (sum of the row's integers)
//       for each four k: levels of a vector, four integers of a row in all lanes:  sums += their dot products
//       accumulator = accumulator + sums * (step * scale of the row)
//       accumulator = accumulator + offset * (sum of the row * its scale)       if the format has offsets
//
// The integers are exact, and an accumulator is one chain with k ascending, so that no tile makes other bits.
#include "compiler/passes/schedule/cpu/ContractTile.h"
#include "compiler/passes/schedule/cpu/IntegerBlocks.h"
#include "compiler/passes/schedule/cpu/TileProducts.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t word = 4;    // integers that a dot product takes at once
constexpr int64_t chains = 4;  // of dot products, that hide their latency

// Whether dot products take levels with a sign: NEON's do, and those of x86-64 want bytes without one.
bool takesSigned(int64_t lanes) {
  return lanes == 4;
}

// One block of k.
class BlockOfK {
public:
  BlockOfK(const ContractCode &c, const IntegerBlocks &blocks, const TilePlaces &tile, Value k)
      : e(c.e), blocks(blocks), tile(tile), k(k), turned(blocks.isSigned && !takesSigned(c.e.lanes)) {
    for (auto [panel, lane] : llvm::zip(tile.panels, tile.lanes))
      columns.emplace_back(e, c.op.getWeight(), ValueRange{panel, e.add(tile.firstK, k), lane}, e.lanes);
    for (Value row : tile.rows)
      rows.emplace_back(e, c.op.getX(), ValueRange{row, e.add(tile.firstFeature, k)}, 1);
  }

  void add(MutableArrayRef<Value> accumulators) {
    for (Part part = {0, partVectors()}; part.first < vectors(); part.first += part.count)
      for (int64_t group = 0; group < integerStep / blocks.group; ++group)
        bringIn(part, group, sumsOf(part, group), accumulators);
  }

private:
  // Vectors whose sums of integers are in registers at a time.
  struct Part {
    int64_t first, count;
  };

  int64_t vectors() const { return static_cast<int64_t>(columns.size()); }
  // Of one row, whose integers stay in registers meanwhile; those of several would go to the stack.
  int64_t partVectors() const {
    int64_t part = rows.size() == 1 ? std::min(chains, vectors()) : vectors();
    while (vectors() % part != 0)
      --part;
    return part;
  }
  MutableArrayRef<BlockReader> columnsOf(Part part) { return MutableArrayRef(columns).slice(part.first, part.count); }
  int64_t groupWords() const { return blocks.group / word; }

  Emitter::Values sumsOf(Part part, int64_t group) {
    Emitter::Values sums;
    for (BlockReader &row : rows)
      sums.append(part.count, e.broadcast(beginOf(row, group)));
    for (int64_t i = 0; i < groupWords(); ++i) {
      fetch(part, group * groupWords() + i);
      addWord(part, group * groupWords() + inMemory(i), sums);
    }
    return sums;
  }

  // The i-th word of a group in the order of memory: a processor fetches ahead what is read upwards, and stops doing so
  // where reads go back and forth.
  int64_t inMemory(int64_t i) const { return blocks.halves ? i % 2 * groupWords() / 2 + i / 2 : i; }

  void fetch(Part part, int64_t word) {
    constexpr int64_t words = integerStep / talc::word;
    if (tile.fetch)
      tile.fetch(k, {part.first / part.count * words + word, vectors() / part.count * words});
  }

  void addWord(Part part, int64_t number, MutableArrayRef<Value> sums) {
    Emitter::Values levels;
    for (BlockReader &column : columnsOf(part))
      levels.push_back(bytesOf(levelsOf(column, number)));
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value x = bytesOf(e.broadcast(integersOf(row, number)));
      for (auto [v, level] : llvm::enumerate(levels)) {
        Value &sum = sums[r * part.count + v];
        sum = kernel::DotOp::create(e.b, e.loc, sum, level, x, /*wide=*/turned, blocks.isSigned && !turned);
      }
    }
  }

  // Turned, -128 becomes 0.
  Value levelsOf(BlockReader &column, int64_t number) {
    Value levels = blocks.levels(column, number);
    if (!turned)
      return levels;
    return arith::XOrIOp::create(e.b, e.loc, levels, column.constant(static_cast<int32_t>(0x80808080)));
  }

  // Four of a row, as a word; a lane of several words where that costs no instruction.
  Value integersOf(BlockReader &row, int64_t number) {
    int64_t together = scalarsFromLanes(e.lanes) ? e.lanes : 1, lane = number % together;
    return vector::ExtractOp::create(e.b, e.loc, row.scalars(2, e.index(number - lane), together), lane);
  }

  void bringIn(Part part, int64_t group, ValueRange sums, MutableArrayRef<Value> accumulators) {
    SmallVector<GroupScales> scales;
    for (BlockReader &column : columnsOf(part))
      scales.push_back(blocks.scales(column, group));
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value scale = vector::ExtractOp::create(e.b, e.loc, row.number(0, e.b.getF32Type()), 0);
      for (auto [v, of] : llvm::enumerate(scales)) {
        Value &accumulator = accumulators[r * columns.size() + part.first + v];
        Value sum = columns[part.first + v].toFloat(sums[r * part.count + v]);
        accumulator = e.fma(sum, e.mulf(of.step, e.broadcast(scale)), accumulator);
        if (of.offset)
          accumulator = e.fma(of.offset, e.broadcast(e.mulf(toF32(sumOf(row, group)), scale)), accumulator);
      }
    }
  }

  // What a sum begins with, so that levels count from zero on.
  Value beginOf(BlockReader &row, int64_t group) {
    int64_t zero = turned ? 128 : blocks.zero;
    if (zero == 0)
      return integer(0);
    return arith::MulIOp::create(e.b, e.loc, sumOf(row, group), integer(-zero));
  }

  // A block has the sum of all its integers, and that of the first half.
  Value sumOf(BlockReader &row, int64_t group) {
    if (blocks.group == integerStep)
      return row.scalar(1, e.index(0));
    Value first = row.scalar(1, e.index(1));
    return group == 0 ? first : arith::SubIOp::create(e.b, e.loc, row.scalar(1, e.index(0)), first).getResult();
  }

  Value integer(int64_t value) {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value toF32(Value sum) { return arith::SIToFPOp::create(e.b, e.loc, e.b.getF32Type(), sum); }
  Value bytesOf(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({word * e.lanes}, e.b.getI8Type()), words);
  }

  Emitter &e;
  const IntegerBlocks &blocks;
  const TilePlaces &tile;
  const Value k;
  const bool turned;  // levels lose their sign: their highest bit is the other one
  SmallVector<BlockReader> columns, rows;
};

// Beside an accumulator of f32 every pair of row and vector has one of integers. NEON has as many registers as AVX-512,
// of which those integers of four rows take eight whose words come from lanes.
int64_t pairs(int64_t lanes) {
  return lanes > 8 ? 12 : lanes == 8 ? 4 : 8;
}

int64_t rowsOf(int64_t lanes) {
  return lanes == 4 ? 4 : pairs(lanes);
}

int64_t columnsOf(int64_t rows, int64_t lanes) {
  return lanes * llvm::bit_floor<uint64_t>(std::max<int64_t>(pairs(lanes) / rows, 1));
}

// A panel is one stream: of two, read in turns, a processor fetches less ahead. Where levels take many instructions,
// more columns keep them busy.
int64_t columnsOfRow(const StorageFormat &weight, int64_t lanes) {
  constexpr int64_t widestPanel = 64;
  int64_t most = columnsOf(1, lanes);
  return integerBlocks(weight.name)->isSimple ? std::min(most, widestPanel) : most;
}

Emitter::Values accumulateIntegers(const ContractCode &c, const TilePlaces &tile, ValueRange before) {
  Emitter &e = c.e;
  const IntegerBlocks &blocks = *integerBlocks(elementFormat(cast<ShapedType>(c.op.getWeight().getType())).name);
  return e.loop(e.index(0), e.index(tile.depth), integerStep, before, [&](Value k, ValueRange carried) {
    Emitter::Values accumulators(carried);
    BlockOfK(c, blocks, tile, k).add(accumulators);
    return accumulators;
  });
}

}  // namespace

// The next iteration's lines: farther ones were a tenth slower.
const TileProducts integerProducts = {rowsOf,
                                      columnsOf,
                                      columnsOfRow,
                                      [](int64_t) { return integerStep; },
                                      /*fixedSteps=*/true,
                                      [](int64_t lines) { return lines; },
                                      [](const StorageFormat &weight) { return weight.blockValues; },
                                      accumulateIntegers};

}  // namespace talc
