// SPDX-License-Identifier: Apache-2.0
// A tile multiplies rounded rows by the integers of a weight's blocks.
//
//   for each stretch of k                         of all rows, of vectors of columns: some blocks of 32
//     for each group that shares a step           a block, or half of it
//       sums = -zero * (sum of the row's integers)
//       for each four k: levels of a vector, four integers of a row in all lanes:  sums += their dot products
//       accumulator = accumulator + sums * (step * scale of the row)
//       accumulator = accumulator + offset * (sum of the row)         if the format has offsets
//
// The integers are exact, and an accumulator is one chain with k ascending, so that no tile makes other bits.
//
// One row waits for memory. Its stretch has all levels that share bytes, and it takes words in the order in which they
// lie there:
//
//   q4_k    bytes of a word    k 0-3 and k 32-35    k 4-7 and k 36-39 ...      sums of two groups at a time
//
// since a processor fetches ahead what is read upwards, and stops doing so where reads go back and forth.
#include "compiler/passes/schedule/cpu/ContractTile.h"
#include "compiler/passes/schedule/cpu/IntegerBlocks.h"
#include "compiler/passes/schedule/cpu/TileProducts.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t word = 4;  // integers that a dot product takes at once

// Whether dot products take levels with a sign: NEON's do, and those of x86-64 want bytes without one.
bool takesSigned(int64_t lanes) {
  return lanes == 4;
}

// Sums of integers that are in registers at a time, if a tile has more.
int64_t mostSums(int64_t lanes) {
  return lanes > 8 ? 24 : 8;
}

// Some blocks of k.
class Stretch {
public:
  Stretch(const ContractCode &c, const IntegerBlocks &blocks, const TilePlaces &tile, Value k, int64_t length)
      : e(c.e), blocks(blocks), tile(tile), k(k), turned(blocks.isSigned && !takesSigned(c.e.lanes)),
        words(length / word), columns(length / integerStep), rows(length / integerStep) {
    const StorageFormat &format = elementFormat(cast<ShapedType>(c.op.getWeight().getType()));
    for (auto [panel, lane] : llvm::zip(tile.panels, tile.lanes)) {
      const BlockPlace first = placeIn(e, c.op.getWeight(), ValueRange{panel, e.add(tile.firstK, k), lane});
      for (auto [i, vectors] : llvm::enumerate(columns)) {
        BlockPlace place = first;
        place.value = e.add(first.value, i * integerStep);
        vectors.emplace_back(e, format, place, e.lanes);
      }
    }
    for (auto [i, block] : llvm::enumerate(rows))
      for (Value row : tile.rows)
        block.emplace_back(e, c.op.getX(), ValueRange{row, e.add(e.add(tile.firstFeature, k), i * integerStep)}, 1);
  }

  void add(MutableArrayRef<Value> accumulators) {
    for (Part part = {0, partVectors()}; part.first < vectors(); part.first += part.count)
      add(part, accumulators);
  }

private:
  static constexpr int64_t stepWords = integerStep / word;

  // Vectors whose sums of integers are in registers at a time.
  struct Part {
    int64_t first, count;
  };

  int64_t vectors() const { return static_cast<int64_t>(tile.panels.size()); }
  int64_t partVectors() const {
    int64_t part = std::clamp<int64_t>(mostSums(e.lanes) / static_cast<int64_t>(tile.rows.size()), 1, vectors());
    while (vectors() % part != 0)
      --part;
    return part;
  }
  MutableArrayRef<BlockReader> columnsOf(Part part, int64_t step) {
    return MutableArrayRef<BlockReader>(columns[step]).slice(part.first, part.count);
  }

  void add(Part part, MutableArrayRef<Value> accumulators) {
    SmallVector<Emitter::Values> sums(words / groupWords());
    SmallVector<int64_t> missing(sums.size(), groupWords());
    size_t next = 0;
    for (int64_t i = 0; i < words; ++i) {
      fetch(part, i);
      int64_t number = inMemory(i), group = number / groupWords();
      if (sums[group].empty())
        sums[group] = beginOf(part, group);
      addWord(part, number, sums[group]);
      --missing[group];
      for (; next < sums.size() && missing[next] == 0; ++next)
        bringIn(part, next, sums[next], accumulators);
    }
  }

  int64_t groupWords() const { return blocks.group / word; }
  int64_t groupsOfStep() const { return integerStep / blocks.group; }

  // The i-th word in the order of memory.
  int64_t inMemory(int64_t i) const {
    int64_t apart = blocks.apart / word;
    if (apart == 0 || 2 * apart > words)
      return i;
    int64_t inPair = i % (2 * apart);
    return i - inPair + inPair % 2 * apart + inPair / 2;
  }

  // A step's lines are fetched in the turns of all its parts.
  void fetch(Part part, int64_t i) {
    Turn turn = {part.first / part.count * stepWords + i % stepWords, vectors() / part.count * stepWords};
    if (tile.fetch)
      tile.fetch(e.add(k, i / stepWords * integerStep), turn);
  }

  void addWord(Part part, int64_t number, MutableArrayRef<Value> sums) {
    Emitter::Values levels;
    for (BlockReader &column : columnsOf(part, number / stepWords))
      levels.push_back(bytesOf(levelsOf(column, number % stepWords)));
    for (auto [r, row] : llvm::enumerate(rows[number / stepWords])) {
      Value x = bytesOf(e.broadcast(integersOf(row, number % stepWords)));
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
    return vector::ExtractOp::create(e.b, e.loc, row.scalars(3, e.index(number - lane), together), lane);
  }

  void bringIn(Part part, int64_t group, ValueRange sums, MutableArrayRef<Value> accumulators) {
    int64_t step = group / groupsOfStep();
    SmallVector<GroupScales> scales;
    for (BlockReader &column : columnsOf(part, step))
      scales.push_back(blocks.scales(column, group % groupsOfStep()));
    for (auto [r, row] : llvm::enumerate(rows[step])) {
      Value scale = number(row, 0);
      for (auto [v, of] : llvm::enumerate(scales)) {
        Value &accumulator = accumulators[r * vectors() + part.first + v];
        Value sum = columns[step][part.first + v].toFloat(sums[r * part.count + v]);
        accumulator = e.fma(sum, e.mulf(of.step, e.broadcast(scale)), accumulator);
        if (of.offset)
          accumulator = e.fma(of.offset, e.broadcast(number(row, 1)), accumulator);
      }
    }
  }

  // What sums begin with, so that levels count from zero on.
  Emitter::Values beginOf(Part part, int64_t group) {
    Emitter::Values sums;
    int64_t zero = turned ? 128 : blocks.zero, inStep = group % groupsOfStep();
    for (BlockReader &row : rows[group / groupsOfStep()]) {
      Value begin = integer(0);
      if (zero != 0)
        begin = arith::MulIOp::create(e.b, e.loc, sumOf(row, inStep), integer(-zero));
      sums.append(part.count, e.broadcast(begin));
    }
    return sums;
  }

  // A block has the sum of all its integers, and that of the first half.
  Value sumOf(BlockReader &row, int64_t group) {
    if (blocks.group == integerStep)
      return row.scalar(2, e.index(0));
    Value first = row.scalar(2, e.index(1));
    return group == 0 ? first : arith::SubIOp::create(e.b, e.loc, row.scalar(2, e.index(0)), first).getResult();
  }

  Value integer(int64_t value) {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value number(BlockReader &row, int64_t field) {
    return vector::ExtractOp::create(e.b, e.loc, row.number(field, e.b.getF32Type()), 0);
  }
  Value bytesOf(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({word * e.lanes}, e.b.getI8Type()), words);
  }

  Emitter &e;
  const IntegerBlocks &blocks;
  const TilePlaces &tile;
  const Value k;
  const bool turned;  // levels lose their sign: their highest bit is the other one
  const int64_t words;
  std::vector<std::vector<BlockReader>> columns, rows;  // of each step
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

// A panel is one stream: of two, read in turns, a processor fetches less ahead.
int64_t columnsOfRow(const StorageFormat &, int64_t lanes) {
  constexpr int64_t vectors = 4;
  return vectors * lanes;
}

// Of blocks of 32 the next one: farther ones were a tenth slower. Of larger ones two: their scales lie in front of all
// levels, and a processor that meets them fetches less ahead by itself.
int64_t fetchAhead(const StorageFormat &weight, int64_t lines) {
  int64_t steps = weight.blockValues / integerStep;
  return steps > 2 ? 2 * steps * lines : lines;
}

Emitter::Values accumulateIntegers(const ContractCode &c, const TilePlaces &tile, ValueRange before) {
  Emitter &e = c.e;
  const StorageFormat &format = elementFormat(cast<ShapedType>(c.op.getWeight().getType()));
  const IntegerBlocks &blocks = *integerBlocks(format.name);
  bool inMemory = tile.rows.size() == 1 && tile.depth % format.blockValues == 0;
  int64_t stretch = inMemory ? std::max(2 * blocks.apart, integerStep) : integerStep;
  return e.loop(e.index(0), e.index(tile.depth), stretch, before, [&](Value k, ValueRange carried) {
    Emitter::Values accumulators(carried);
    Stretch(c, blocks, tile, k, stretch).add(accumulators);
    return accumulators;
  });
}

}  // namespace

const TileProducts integerProducts = {rowsOf,
                                      columnsOf,
                                      columnsOfRow,
                                      [](int64_t) { return integerStep; },
                                      /*fixedSteps=*/true,
                                      fetchAhead,
                                      [](const StorageFormat &weight) { return weight.blockValues; },
                                      accumulateIntegers};

}  // namespace talc
