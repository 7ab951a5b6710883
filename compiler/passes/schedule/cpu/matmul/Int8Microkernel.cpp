// SPDX-License-Identifier: Apache-2.0
// Multiplies quantized activations by the codes of a weight's quant blocks.
//
//   for each block of the activations, which share a scale   of all rows, of vectors of columns
//     partial = 0
//     for each 32 of k
//       for each group of codes that shares a scale            of all rows, or of some after others
//         sums = -zero point * (sum of the row's codes), which the row has; if dot products do not accumulate, added
//         last for each four k: codes of a vector, four codes of a row in all lanes:  sums += their dot products
//         partial = partial + sums * scale
//         partial = partial + offset * (sum of the row's codes)          if the format has offsets
//     accumulator = accumulator + partial * scale of the row
//
// The integers are exact, and partial sums and accumulators are chains with k ascending, so that no shape of a tile
// makes other bits.
//
// Words are taken in the order in which they lie in memory, since hardware prefetchers follow ascending reads and lose
// those that go back and forth:
//
//   q4_0    bytes of a word    k 0-3 and k 16-19    k 4-7 and k 20-23 ...
#include "compiler/passes/schedule/cpu/matmul/IntegerMicrokernel.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"
#include "compiler/passes/schedule/cpu/matmul/QuantUnpack.h"

#include "dialects/kernel/ByteOps.h"
#include "dialects/talc/formats/QuantizedActivations.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t wordCodes = 4;  // codes that a dot product takes at once
// Fields of quantized activations.
enum : int64_t { scaleField, sumsField, foldedSumsField, codesField };

// Loads a float that a block of a row has once.
Value loadFloat(BlockReader &row, int64_t field) {
  return vector::ExtractOp::create(row.e.b, row.e.loc, row.number(field, row.e.b.getF32Type()), 0);
}

// 32 of k.
class Int8Step {
public:
  Int8Step(const MatmulContext &c, const QuantUnpacker &unpacker, const TileOperands &tile, Value k,
           int64_t accumulators)
      : e(c.e), unpacker(unpacker), tile(tile), k(k), flipsSign(unpacker.isSigned && !c.e.traits.signedDots),
        accumulators(accumulators) {
    const StorageFormat &format = *c.plan.shape.weightFormat;
    for (auto [panel, lane] : llvm::zip(tile.panels, tile.lanes))
      columns.emplace_back(e, format, blockAddress(e, c.weight, ValueRange{panel, e.add(tile.firstK, k), lane}),
                           e.lanes);
    for (auto [row, feature] : llvm::zip(tile.rows, tile.features))
      rows.emplace_back(e, c.x, ValueRange{row, e.add(feature, k)}, 1);
  }

  void add(MutableArrayRef<Value> partials) {
    int64_t maxRows = rowsAtOnce();
    for (int64_t first = 0; first < rowCount(); first += maxRows)
      add({first, std::min(maxRows, rowCount() - first)}, partials);
  }

  // Stores the codes of each k, as bytes without a sign where dot products take none that have one; after them the
  // scale of each group, and its offset or exponent.
  void dequantize() {
    for (size_t v = 0; v < columns.size(); ++v) {
      for (int64_t i = 0; i < words; ++i)
        tile.dequantized.store(e, unpackCodes(columns[v], wordInMemory(i)), codeIndex(wordInMemory(i)),
                               tile.dequantizedLanes[v]);
      for (int64_t group = 0; group < words / groupWords(); ++group) {
        GroupScales scales = unpacker.scales(columns[v], group);
        Value index = scaleIndex(group), lane = tile.dequantizedLanes[v];
        tile.dequantized.store(e, scales.scale, index, lane);
        if (Value other = scales.offset ? scales.offset : scales.exponent)
          tile.dequantized.store(e, other, e.add(index, 1), lane);
      }
    }
  }

  static int64_t dequantizedWords(const QuantUnpacker &unpacker, int64_t k) {
    return k / wordCodes + k / unpacker.groupValues * scaleWords(unpacker);
  }

private:
  static constexpr int64_t words = activationGroup / wordCodes;
  static int64_t scaleWords(const QuantUnpacker &unpacker) {
    return unpacker.hasOffsets || unpacker.hasPowerScales ? 2 : 1;
  }

  // Rows whose integer sums are in registers at a time.
  struct RowRange {
    int64_t first, count;
  };

  int64_t vectors() const { return static_cast<int64_t>(tile.panels.size()); }
  int64_t rowCount() const { return static_cast<int64_t>(tile.rows.size()); }
  // A float and an integer sum have a register each for every accumulator of a full tile.
  int64_t rowsAtOnce() const { return std::clamp<int64_t>(2 * accumulators / vectors() - rowCount(), 1, rowCount()); }
  MutableArrayRef<BlockReader> readers(RowRange range) {
    return MutableArrayRef<BlockReader>(rows).slice(range.first, range.count);
  }

  void add(RowRange range, MutableArrayRef<Value> partials) {
    SmallVector<Emitter::Values> sums(words / groupWords());
    SmallVector<int64_t> missing(sums.size(), groupWords());
    size_t next = 0;
    for (int64_t i = 0; i < words; ++i) {
      prefetch(range, i);
      int64_t word = wordInMemory(i), group = word / groupWords();
      if (sums[group].empty())
        sums[group] = initialSums(range, group);
      addWord(range, word, sums[group]);
      --missing[group];
      for (; next < sums.size() && missing[next] == 0; ++next)
        addGroup(range, next, sums[next], partials);
    }
  }

  int64_t groupWords() const { return unpacker.groupValues / wordCodes; }

  // The i-th word in the order of memory.
  int64_t wordInMemory(int64_t i) const {
    int64_t distance = unpacker.pairDistance / wordCodes;
    if (distance == 0)
      return i;
    int64_t inPair = i % (2 * distance);
    return i - inPair + inPair % 2 * distance + inPair / 2;
  }

  // Prefetches are spread over the words of all ranges of rows.
  void prefetch(RowRange range, int64_t i) {
    int64_t maxRows = rowsAtOnce(), count = llvm::divideCeilSigned(rowCount(), maxRows);
    if (tile.prefetch)
      tile.prefetch(k, {range.first / maxRows * words + i, count * words});
  }

  void addWord(RowRange range, int64_t word, MutableArrayRef<Value> sums) {
    Emitter::Values codes;
    for (int64_t v = 0; v < vectors(); ++v)
      codes.push_back(asBytes(loadCodes(v, word)));
    for (auto [r, row] : llvm::enumerate(readers(range))) {
      Value x = asBytes(e.broadcast(loadActivations(row, word)));
      for (auto [v, code] : llvm::enumerate(codes)) {
        Value &sum = sums[r * vectors() + v];
        sum = kernel::DotOp::create(e.b, e.loc, sum, code, x, flipsSign ? 255 : unpacker.maxCode,
                                    unpacker.isSigned && !flipsSign);
      }
    }
  }

  Value loadCodes(int64_t vector, int64_t word) {
    if (tile.dequantized)
      return tile.dequantized.load(e, codeIndex(word), tile.dequantizedLanes[vector]);
    return unpackCodes(columns[vector], word);
  }

  GroupScales loadScales(int64_t vector, int64_t group) {
    if (!tile.dequantized)
      return unpacker.scales(columns[vector], group);
    Value index = scaleIndex(group), lane = tile.dequantizedLanes[vector];
    GroupScales scales = {tile.dequantized.loadFloat(e, index, lane), {}};
    if (unpacker.hasOffsets)
      scales.offset = tile.dequantized.loadFloat(e, e.add(index, 1), lane);
    if (unpacker.hasPowerScales)
      scales.exponent = tile.dequantized.load(e, e.add(index, 1), lane);
    return scales;
  }

  Value codeIndex(int64_t word) { return e.add(e.div(k, wordCodes), word); }
  Value scaleIndex(int64_t group) {
    Value index = e.add(e.div(k, unpacker.groupValues), group);
    return e.add(e.mul(index, scaleWords(unpacker)), tile.k / wordCodes);
  }

  // Flipping the sign bit makes 0 of -128.
  Value unpackCodes(BlockReader &column, int64_t word) {
    Value codes = unpacker.codes(column, word, rowCount());
    if (!flipsSign)
      return codes;
    return arith::XOrIOp::create(e.b, e.loc, codes, column.constant(static_cast<int32_t>(0x80808080)));
  }

  // Four codes of a row, as a word; a lane of several words where that costs no instruction.
  Value loadActivations(BlockReader &row, int64_t word) {
    int64_t atOnce = e.traits.fmaFromLane ? e.lanes : 1, lane = word % atOnce;
    return vector::ExtractOp::create(e.b, e.loc, row.scalars(codesField, e.index(word - lane), atOnce), lane);
  }

  void addGroup(RowRange range, int64_t group, ValueRange sums, MutableArrayRef<Value> partials) {
    SmallVector<GroupScales> scales;
    for (int64_t v = 0; v < vectors(); ++v)
      scales.push_back(loadScales(v, group));
    for (auto [r, row] : llvm::enumerate(readers(range))) {
      Value zeroPointSum = addsZeroPointLast() ? zeroPointTerm(row, group) : Value();
      for (auto [v, groupScales] : llvm::enumerate(scales)) {
        Value &partial = partials[(range.first + r) * vectors() + v], sum = sums[r * vectors() + v];
        partial = addScaled(columns[v].toFloat(zeroPointSum ? columns[v].plus(sum, zeroPointSum) : sum), groupScales,
                            partial);
        if (groupScales.offset)
          partial = e.fma(groupScales.offset, e.broadcast(loadFloat(row, sumsField)), partial);
      }
    }
  }

  // Multiplying by a power of two runs on other units than dot products; beside instructions that unpack codes these
  // have no time left. A partial sum that begins here is null.
  Value addScaled(Value sum, const GroupScales &scales, Value partial) {
    if (scales.exponent && tile.dequantized && e.traits.scalesByPowers) {
      Value product = kernel::LdexpOp::create(e.b, e.loc, sum.getType(), sum, scales.exponent);
      return partial ? e.addf(product, partial) : product;
    }
    return partial ? e.fma(sum, scales.scale, partial) : e.mulf(sum, scales.scale);
  }

  // If dot products do not accumulate, words are summed after the last of them: the term takes no register before.
  bool addsZeroPointLast() const { return !e.traits.dotsAccumulate; }

  Emitter::Values initialSums(RowRange range, int64_t group) {
    Emitter::Values sums;
    for (BlockReader &row : readers(range)) {
      Value term = addsZeroPointLast() ? Value() : zeroPointTerm(row, group);
      sums.append(vectors(), term ? term : columns[0].constant(0));
    }
    return sums;
  }

  // -zero point times the sum of a row's codes; null: the zero point is 0. It is broadcast first: a load does so, while
  // a number in a register would have to be moved and broadcast.
  Value zeroPointTerm(BlockReader &row, int64_t group) {
    int64_t zeroPoint = flipsSign ? 128 : unpacker.zeroPoint;
    return zeroPoint != 0 ? scaleFoldedSum(zeroPoint, loadFoldedSum(row, group)) : Value();
  }

  // A block has the term for a zero point of 16 of all its codes, and of those of its first half.
  Value loadFoldedSum(BlockReader &row, int64_t group) {
    auto load = [&](int64_t word) { return e.broadcast(row.scalar(foldedSumsField, e.index(word))); };
    if (unpacker.groupValues == activationGroup)
      return load(0);
    return group == 0 ? load(1) : arith::SubIOp::create(e.b, e.loc, load(0), load(1)).getResult();
  }

  // The same for a zero point that is another power of two.
  Value scaleFoldedSum(int64_t zeroPoint, Value sum) {
    auto shift = [&](int64_t ratio) { return columns[0].constant(static_cast<int32_t>(llvm::Log2_64(ratio))); };
    if (zeroPoint > foldedZeroPoint)
      return arith::ShLIOp::create(e.b, e.loc, sum, shift(zeroPoint / foldedZeroPoint));
    if (zeroPoint < foldedZeroPoint)
      return arith::ShRSIOp::create(e.b, e.loc, sum, shift(foldedZeroPoint / zeroPoint));
    return sum;
  }

  Value asBytes(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({wordCodes * e.lanes}, e.b.getI8Type()), words);
  }

  Emitter &e;
  const QuantUnpacker &unpacker;
  const TileOperands &tile;
  const Value k;
  const bool flipsSign;        // codes lose their sign: their highest bit is inverted
  const int64_t accumulators;  // of a full tile
  std::vector<BlockReader> columns, rows;
};

class Int8Microkernel final : public IntegerMicrokernel {
public:
  Int8Microkernel(const StorageFormat &weight, const IsaTraits &traits, const QuantUnpacker &unpacker)
      : IntegerMicrokernel(Kind::Int8, weight, traits, unpacker.maxCode), unpacker(unpacker) {}

  int64_t tallTileRows() const override {
    return traits.hasLargeRegisterFile() ? 8 : IntegerMicrokernel::tallTileRows();
  }
  // With as many columns, every second product finds its word in a register, but none is left for codes that take
  // several registers.
  int64_t tallTileColumns(int64_t columns) const override {
    return traits.hasFewRegisters() || unpacker.isSlow ? columns / 2 : columns;
  }
  int64_t unroll() const override { return activationGroup; }

  // 4 KiB of small blocks. Of larger ones two blocks: their scales lie before all codes, and hardware prefetchers that
  // meet them fetch less ahead.
  int64_t prefetchDistance(int64_t linesPerIteration) const override {
    constexpr int64_t minLines = 64;
    int64_t iterations = weight.blockValues / activationGroup;
    return iterations > 2 ? 2 * iterations * linesPerIteration
                          : llvm::divideCeil(minLines, linesPerIteration) * linesPerIteration;
  }

  // Codes that stand for 4-bit floats with power-of-two scales are a permutation away, so that dequantizing them pays
  // for many rows only. Bytes with a sign lie in memory as dot products take them.
  int64_t minRowsToDequantize() const override {
    constexpr int64_t manyRows = 64;
    if (unpacker.isSigned)
      return 0;
    if (unpacker.hasPowerScales && traits.hasLargeRegisterFile())
      return manyRows;
    return minRowsToDequantizeCodes(unpacker.isSlow && !unpacker.hasPowerScales);
  }
  int64_t dequantizedWords(int64_t k) const override { return Int8Step::dequantizedWords(unpacker, k); }
  void dequantize(const MatmulContext &c, const TileOperands &tile) const override {
    c.e.loop(c.e.index(0), c.e.index(tile.k), activationGroup, [&](Value k) { step(c, tile, k).dequantize(); });
  }

  // Where rows have a scale for each 32, accumulators stay in registers. Partial sums of more k have the registers to
  // themselves: LLVM would keep some accumulators there, and spill partial sums.
  void multiply(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) const override {
    Emitter &e = c.e;
    const Value begin = e.index(0), end = e.index(tile.k);
    const int64_t unit = c.plan.kUnit;
    if (unit > activationGroup) {
      e.loop(begin, end, unit, [&](Value k) {
        Emitter::Values partials = multiplyBlock(c, tile, k);
        sums.update(k, [&](size_t i, Value sum) { return addPartial(c, tile, k, i, partials[i], sum); });
      });
      return;
    }
    sums.store(e.loop(begin, end, unit, sums.load(), [&](Value k, ValueRange before) {
      Emitter::Values partials = multiplyBlock(c, tile, k);
      for (auto [i, partial] : llvm::enumerate(partials))
        partial = addPartial(c, tile, k, i, partial, before[i]);
      return partials;
    }));
  }

private:
  Int8Step step(const MatmulContext &c, const TileOperands &tile, Value k) const {
    return Int8Step(c, unpacker, tile, k, accumulators());
  }

  // The partial sums of a block of the activations.
  Emitter::Values multiplyBlock(const MatmulContext &c, const TileOperands &tile, Value k) const {
    Emitter &e = c.e;
    auto addStep = [&](Value k, ValueRange before) {
      Emitter::Values partials(before);
      step(c, tile, k).add(partials);
      return partials;
    };
    size_t count = tile.rows.size() * tile.panels.size();
    if (c.plan.kUnit == activationGroup)
      return addStep(k, Emitter::Values(count));
    return e.loop(k, e.add(k, c.plan.kUnit), activationGroup, Emitter::Values(count, e.splat(0)), addStep);
  }

  // Blocks of a row that were quantized together have the same scale.
  static Value addPartial(const MatmulContext &c, const TileOperands &tile, Value k, size_t index, Value partial,
                          Value sum) {
    Emitter &e = c.e;
    size_t row = index / tile.panels.size();
    BlockReader reader(e, c.x, ValueRange{tile.rows[row], e.add(tile.features[row], k)}, 1);
    return e.fma(partial, e.broadcast(loadFloat(reader, scaleField)), sum);
  }

  const QuantUnpacker &unpacker;
};

}  // namespace

std::unique_ptr<const Microkernel> makeInt8Microkernel(const StorageFormat &weight, const IsaTraits &traits) {
  return std::make_unique<Int8Microkernel>(weight, traits, *findQuantUnpacker(weight.name));
}

}  // namespace talc
