// SPDX-License-Identifier: Apache-2.0
// A tile multiplies rounded rows by the integers of a weight's blocks.
//
//   for each block of the rows, which share a scale   of all rows, of vectors of columns
//     part = 0
//     for each 32 of k
//       for each group that shares a step               of all rows, or of some after others
//         sums = -zero * (sum of the row's integers), which the row has; with 8 lanes behind the products
//         for each four k: levels of a vector, four integers of a row in all lanes:  sums += their dot products
//         part = part + sums * step
//         part = part + offset * (sum of the row's integers)          if the format has offsets
//     accumulator = accumulator + part * scale of the row
//
// The integers are exact, and parts and accumulators are chains with k ascending, so that no tile makes other bits.
//
// Words are taken in the order in which they lie in memory, since a processor fetches ahead what is read upwards, and
// stops doing so where reads go back and forth:
//
//   q4_0    bytes of a word    k 0-3 and k 16-19    k 4-7 and k 20-23 ...
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"
#include "compiler/passes/schedule/cpu/matmul/QuantUnpack.h"

#include "dialects/kernel/ByteOps.h"
#include "dialects/talc/formats/QuantizedActivations.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t word = 4;  // integers that a dot product takes at once
// Fields of rounded rows.
enum : int64_t { scaleField, sumsField, beginsField, integersField };

// Whether dot products take levels with a sign: NEON's do, and those of AVX2 give it to x, by one instruction. AVX-512
// has none that does, and takes bytes without a sign.
bool takesSigned(int64_t lanes) {
  return lanes <= 8;
}

// Whether there is an instruction that multiplies by powers of two: AVX-512 has vscalefps.
bool scalesByPowers(int64_t lanes) {
  return lanes > 8;
}

// A number that a block of a row has once.
Value numberOf(BlockReader &row, int64_t field) {
  return vector::ExtractOp::create(row.e.b, row.e.loc, row.number(field, row.e.b.getF32Type()), 0);
}

// 32 of k.
class Step {
public:
  Step(const MatmulContext &c, const QuantUnpacker &blocks, const TileOperands &tile, Value k)
      : e(c.e), blocks(blocks), tile(tile), k(k), turned(blocks.isSigned && !takesSigned(c.e.lanes)),
        pairs(pairsOfIntegers(*c.plan.weightFormat, c.e.lanes)) {
    const StorageFormat &format = elementFormat(cast<ShapedType>(c.weight.getType()));
    for (auto [panel, lane] : llvm::zip(tile.panels, tile.lanes))
      columns.emplace_back(e, format, blockAddress(e, c.weight, ValueRange{panel, e.add(tile.firstK, k), lane}),
                           e.lanes);
    for (auto [row, feature] : llvm::zip(tile.rows, tile.features))
      rows.emplace_back(e, c.x, ValueRange{row, e.add(feature, k)}, 1);
  }

  void add(MutableArrayRef<Value> parts) {
    int64_t most = rowsOfPart();
    for (int64_t first = 0; first < rowCount(); first += most)
      add({first, std::min(most, rowCount() - first)}, parts);
  }

  // For each of k the levels, as bytes without a sign where products take none that have one; behind them for each
  // group its step, and what a format has beside it.
  void layOut() {
    for (size_t v = 0; v < columns.size(); ++v) {
      for (int64_t i = 0; i < words; ++i)
        tile.laidOut.store(e, unpacked(columns[v], inMemory(i)), levelPlace(inMemory(i)), tile.laidOutLanes[v]);
      for (int64_t group = 0; group < words / groupWords(); ++group) {
        GroupScales scales = blocks.scales(columns[v], group);
        Value place = scalesPlace(group), lane = tile.laidOutLanes[v];
        tile.laidOut.store(e, scales.step, place, lane);
        if (Value other = scales.offset ? scales.offset : scales.exponent)
          tile.laidOut.store(e, other, e.add(place, 1), lane);
      }
    }
  }

  static int64_t laidOutWords(const QuantUnpacker &blocks, int64_t depth) {
    return depth / word + depth / blocks.group * scaleWords(blocks);
  }

private:
  static constexpr int64_t words = integerStep / word;
  static int64_t scaleWords(const QuantUnpacker &blocks) { return blocks.offsets || blocks.powers ? 2 : 1; }

  // Rows whose sums of integers are in registers at a time.
  struct Part {
    int64_t first, count;
  };

  int64_t vectors() const { return static_cast<int64_t>(tile.panels.size()); }
  int64_t rowCount() const { return static_cast<int64_t>(tile.rows.size()); }
  // An accumulator and a sum of integers have a register each for every pair of a full tile.
  int64_t rowsOfPart() const { return std::clamp<int64_t>(2 * pairs / vectors() - rowCount(), 1, rowCount()); }
  MutableArrayRef<BlockReader> rowsOf(Part part) {
    return MutableArrayRef<BlockReader>(rows).slice(part.first, part.count);
  }

  void add(Part part, MutableArrayRef<Value> parts) {
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
        bringIn(part, next, sums[next], parts);
    }
  }

  int64_t groupWords() const { return blocks.group / word; }

  // The i-th word in the order of memory.
  int64_t inMemory(int64_t i) const {
    int64_t apart = blocks.apart / word;
    if (apart == 0)
      return i;
    int64_t inPair = i % (2 * apart);
    return i - inPair + inPair % 2 * apart + inPair / 2;
  }

  // Lines are fetched in the turns of all parts.
  void fetch(Part part, int64_t i) {
    int64_t most = rowsOfPart(), count = llvm::divideCeilSigned(rowCount(), most);
    if (tile.fetch)
      tile.fetch(k, {part.first / most * words + i, count * words});
  }

  void addWord(Part part, int64_t number, MutableArrayRef<Value> sums) {
    Emitter::Values levels;
    for (int64_t v = 0; v < vectors(); ++v)
      levels.push_back(bytesOf(levelsOf(v, number)));
    for (auto [r, row] : llvm::enumerate(rowsOf(part))) {
      Value x = bytesOf(e.broadcast(integersOf(row, number)));
      for (auto [v, level] : llvm::enumerate(levels)) {
        Value &sum = sums[r * vectors() + v];
        sum = kernel::DotOp::create(e.b, e.loc, sum, level, x, turned ? 255 : blocks.most, blocks.isSigned && !turned);
      }
    }
  }

  Value levelsOf(int64_t vector, int64_t number) {
    if (tile.laidOut)
      return tile.laidOut.load(e, levelPlace(number), tile.laidOutLanes[vector]);
    return unpacked(columns[vector], number);
  }

  GroupScales scalesOf(int64_t vector, int64_t group) {
    if (!tile.laidOut)
      return blocks.scales(columns[vector], group);
    Value place = scalesPlace(group), lane = tile.laidOutLanes[vector];
    GroupScales scales = {tile.laidOut.loadNumber(e, place, lane), {}};
    if (blocks.offsets)
      scales.offset = tile.laidOut.loadNumber(e, e.add(place, 1), lane);
    if (blocks.powers)
      scales.exponent = tile.laidOut.load(e, e.add(place, 1), lane);
    return scales;
  }

  Value levelPlace(int64_t number) { return e.add(e.div(k, word), number); }
  Value scalesPlace(int64_t group) {
    Value number = e.add(e.div(k, blocks.group), group);
    return e.add(e.mul(number, scaleWords(blocks)), tile.depth / word);
  }

  // Turned, -128 becomes 0.
  Value unpacked(BlockReader &column, int64_t number) {
    Value levels = blocks.levels(column, number, rowCount());
    if (!turned)
      return levels;
    return arith::XOrIOp::create(e.b, e.loc, levels, column.constant(static_cast<int32_t>(0x80808080)));
  }

  // Four of a row, as a word; a lane of several words where that costs no instruction.
  Value integersOf(BlockReader &row, int64_t number) {
    int64_t together = scalarsFromLanes(e.lanes) ? e.lanes : 1, lane = number % together;
    return vector::ExtractOp::create(e.b, e.loc, row.scalars(integersField, e.index(number - lane), together), lane);
  }

  void bringIn(Part part, int64_t group, ValueRange sums, MutableArrayRef<Value> parts) {
    SmallVector<GroupScales> scales;
    for (int64_t v = 0; v < vectors(); ++v)
      scales.push_back(scalesOf(v, group));
    for (auto [r, row] : llvm::enumerate(rowsOf(part))) {
      Value begin = beginsLast() ? beginOf(row, group) : Value();
      for (auto [v, of] : llvm::enumerate(scales)) {
        Value &all = parts[(part.first + r) * vectors() + v], sum = sums[r * vectors() + v];
        all = joined(columns[v].toFloat(begin ? columns[v].plus(sum, begin) : sum), of, all);
        if (of.offset)
          all = e.fma(of.offset, e.broadcast(numberOf(row, sumsField)), all);
      }
    }
  }

  // By a power of two, in other units than those of dot products; beside instructions that unpack levels these have no
  // time left. A part that begins here is null.
  Value joined(Value sum, const GroupScales &of, Value part) {
    if (of.exponent && tile.laidOut && scalesByPowers(e.lanes)) {
      Value product = kernel::LdexpOp::create(e.b, e.loc, sum.getType(), sum, of.exponent);
      return part ? e.addf(product, part) : product;
    }
    return part ? e.fma(sum, of.step, part) : e.mulf(sum, of.step);
  }

  // AVX2 makes sums of words behind the last of them: what they begin with takes no register before.
  bool beginsLast() const { return e.lanes == 8; }

  Emitter::Values beginOf(Part part, int64_t group) {
    Emitter::Values sums;
    for (BlockReader &row : rowsOf(part)) {
      Value begin = beginsLast() ? Value() : beginOf(row, group);
      sums.append(vectors(), begin ? begin : columns[0].constant(0));
    }
    return sums;
  }

  // What sums begin with, so that levels count from zero on; null: they do. In all lanes before anything is done with
  // it: a load brings it there, while a number of a register would have to be moved and broadcast.
  Value beginOf(BlockReader &row, int64_t group) {
    int64_t zero = turned ? 128 : blocks.zero;
    return zero != 0 ? from(zero, startOf(row, group)) : Value();
  }

  // A block has what all its integers, and those of the first half, begin with where levels count from 16.
  Value startOf(BlockReader &row, int64_t group) {
    auto begin = [&](int64_t number) { return e.broadcast(row.scalar(beginsField, e.index(number))); };
    if (blocks.group == integerStep)
      return begin(0);
    return group == 0 ? begin(1) : arith::SubIOp::create(e.b, e.loc, begin(0), begin(1)).getResult();
  }

  // The same where they count from another power of two.
  Value from(int64_t zero, Value start) {
    auto power = [&](int64_t ratio) { return columns[0].constant(static_cast<int32_t>(llvm::Log2_64(ratio))); };
    if (zero > foldedZeroPoint)
      return arith::ShLIOp::create(e.b, e.loc, start, power(zero / foldedZeroPoint));
    if (zero < foldedZeroPoint)
      return arith::ShRSIOp::create(e.b, e.loc, start, power(foldedZeroPoint / zero));
    return start;
  }

  Value bytesOf(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({word * e.lanes}, e.b.getI8Type()), words);
  }

  Emitter &e;
  const QuantUnpacker &blocks;
  const TileOperands &tile;
  const Value k;
  const bool turned;    // levels lose their sign: their highest bit is the other one
  const int64_t pairs;  // of rows and vectors in a full tile
  std::vector<BlockReader> columns, rows;
};

// Of small blocks 4 KiB. Of larger ones two: their scales lie in front of all levels, and a processor that meets them
// fetches less ahead by itself.
int64_t fetchAhead(const StorageFormat &weight, int64_t lines, int64_t) {
  constexpr int64_t least = 64;
  int64_t steps = weight.blockValues / integerStep;
  return steps > 2 ? 2 * steps * lines : llvm::divideCeil(least, lines) * lines;
}

int64_t tallRows(const StorageFormat &weight, int64_t lanes) {
  return lanes > 8 ? rowsOfTallTile(weight, lanes) : tallRowsOfIntegers(weight, lanes);
}

// With as many columns, every second product finds its word in a register of AVX-512, but none is left for levels that
// take several.
int64_t tallColumns(const StorageFormat &weight, int64_t columns, int64_t lanes) {
  return lanes == 8 || quantUnpacker(weight.name)->laborious ? columns / 2 : columns;
}

const QuantUnpacker &blocksOf(const MatmulContext &c) {
  return *quantUnpacker(elementFormat(cast<ShapedType>(c.weight.getType())).name);
}

void layOutIntegers(const MatmulContext &c, const TileOperands &tile) {
  c.e.loop(c.e.index(0), c.e.index(tile.depth), integerStep, [&](Value k) { Step(c, blocksOf(c), tile, k).layOut(); });
}

// Levels that come with powers of two are a permutation away: with AVX-512 48 rows lose by unpacked panels, with AVX2
// 12. Bytes with a sign lie in memory as products take them.
int64_t layoutRows(const StorageFormat &weight, int64_t lanes) {
  constexpr int64_t manyRows = 64;
  const QuantUnpacker &blocks = *quantUnpacker(weight.name);
  if (blocks.isSigned)
    return 0;
  return blocks.powers && lanes > 8 ? manyRows : layoutRowsOfIntegers(blocks.laborious && !blocks.powers, lanes);
}

constexpr DequantizedLayout layout = {
    layoutRows,
    [](const StorageFormat &weight, int64_t depth) { return Step::laidOutWords(*quantUnpacker(weight.name), depth); },
    layOutIntegers, integersFetchShares, integersKeepOrder};

// What blocks of the rows make, from k on.
class Joint {
public:
  Joint(const MatmulContext &c, const TileOperands &tile, Value k) : c(c), e(c.e), tile(tile), k(k) {}

  Emitter::Values parts() {
    size_t count = tile.rows.size() * tile.panels.size();
    if (c.plan.depthUnit == integerStep)
      return addStep(k, Emitter::Values(count));
    return e.loop(k, e.add(k, c.plan.depthUnit), integerStep, Emitter::Values(count, e.splat(0)),
                  [&](Value k, ValueRange before) { return addStep(k, before); });
  }

  // Blocks that were rounded together have the same scale.
  Value joined(size_t number, Value part, Value sum) {
    size_t row = number / tile.panels.size();
    BlockReader reader(e, c.x, ValueRange{tile.rows[row], e.add(tile.features[row], k)}, 1);
    return e.fma(part, e.broadcast(numberOf(reader, scaleField)), sum);
  }

private:
  Emitter::Values addStep(Value k, ValueRange before) {
    Emitter::Values parts(before);
    Step(c, blocksOf(c), tile, k).add(parts);
    return parts;
  }

  const MatmulContext &c;
  Emitter &e;
  const TileOperands &tile;
  const Value k;
};

// Where rows have a scale for each step, sums stay in registers. Parts of several steps have the registers to
// themselves: LLVM would keep some of the sums there, and the parts in memory.
void multiplyIntegers(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) {
  Emitter &e = c.e;
  const Value begin = e.index(0), end = e.index(tile.depth);
  const int64_t unit = c.plan.depthUnit;
  if (unit > integerStep) {
    e.loop(begin, end, unit, [&](Value k) {
      Joint joint(c, tile, k);
      Emitter::Values parts = joint.parts();
      sums.update(k, [&](size_t i, Value sum) { return joint.joined(i, parts[i], sum); });
    });
    return;
  }
  sums.store(e.loop(begin, end, unit, sums.before(), [&](Value k, ValueRange before) {
    Joint joint(c, tile, k);
    Emitter::Values parts = joint.parts();
    for (auto [i, part] : llvm::enumerate(parts))
      part = joint.joined(i, part, before[i]);
    return parts;
  }));
}

}  // namespace

const Microkernel int8Microkernel = {rowsOfIntegers,
                                     columnsOfIntegers,
                                     columnsOfIntegerRow,
                                     [](const StorageFormat &, int64_t) { return integerStep; },
                                     /*fixedSteps=*/true,
                                     valuesOfScale,
                                     fetchAhead,
                                     blockOfIntegers,
                                     /*rowsStay=*/false,
                                     multiplyIntegers,
                                     tallRows,
                                     /*streams=*/true,
                                     &layout,
                                     rowsAheadOfIntegers,
                                     areIntegersFollowed,
                                     tallColumns};

}  // namespace talc
