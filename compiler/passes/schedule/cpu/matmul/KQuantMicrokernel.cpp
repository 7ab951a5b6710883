// SPDX-License-Identifier: Apache-2.0
// Multiplies activations that were quantized with a scale for 256 values by k-quants.
//
//   for each block of k                            of all rows, of vectors of columns
//     scales of all groups as f32, once for all rows, wait on the stack
//     partial = -scale of the minima * (minima * sums of 32 codes of the row), if the format has minima
//     for each group
//       sums = dot products of its codes with the row's codes
//       partial = partial + sums * scale of the group
//     accumulator = accumulator + partial * scale of the row
//
// 64 of 72 instructions that multiply are dot products then: what else a row needs is done once for 256 k. If codes
// take more than a shift and a mask, many rows find all of that dequantized. Sums of integers are exact, and the order
// of groups is that of memory, so that no shape of a tile makes other bits: a pair of runs shares words, and where
// there are registers enough both take a word together.
#include "compiler/passes/schedule/cpu/matmul/IntegerMicrokernel.h"
#include "compiler/passes/schedule/cpu/matmul/KQuantPrefetch.h"
#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t wordCodes = 4;  // codes that a dot product takes at once
constexpr int64_t runWords = KQuantUnpacker::runLength / wordCodes;
// Fields of quantized activations.
enum : int64_t { scaleField, digitsField, foldedSumsField, codesField };

// A block of k.
class KQuantBlock {
public:
  KQuantBlock(const MatmulContext &c, const KQuantUnpacker &unpacker, const TileOperands &tile, Value scales, Value k)
      : e(c.e), unpacker(unpacker), tile(tile), scales(scales), k(k) {
    const StorageFormat &format = *c.plan.shape.weightFormat;
    for (auto [panel, lane] : llvm::zip(tile.panels, tile.lanes)) {
      BlockAddress address = blockAddress(e, c.weight, ValueRange{panel, e.add(tile.firstK, k), lane});
      address.value = e.index(0);
      columns.emplace_back(e, format, address, e.lanes);
    }
    for (auto [row, feature] : llvm::zip(tile.rows, tile.features))
      rows.emplace_back(e, c.x, ValueRange{row, e.add(feature, k)}, 1);
    if (KQuantPrefetch::appliesTo(c, tile))
      prefetches.emplace(c, unpacker, tile, k);
  }

  // Stores the codes of each k; after them the scales of all groups, and the minima.
  void dequantize() {
    for (size_t v = 0; v < columns.size(); ++v) {
      BlockReader &column = columns[v];
      auto store = [&](Value words, Value index) { tile.dequantized.store(e, words, index, tile.dequantizedLanes[v]); };
      e.loop(e.index(0), e.index(KQuantUnpacker::pairs), 1, [&](Value pair) {
        for (int64_t i = 0; i < 2 * runWords; ++i)
          store(unpacker.codes(column, pair, i % 2, i / 2),
                codeIndex(indexInBlock(unpacker.firstIndex(e, pair), i % 2, i / 2)));
      });
      for (auto [group, scale] : llvm::enumerate(unpacker.scales(column)))
        store(scale, scaleIndex(e.index(static_cast<int64_t>(group))));
      if (!unpacker.minima)
        continue;
      KQuantMinima minima = unpacker.minima(column);
      const Value stored[] = {minima.minima[0], minima.minima[1], minima.scale};
      for (auto [i, words] : llvm::enumerate(stored))
        store(words, minimaIndex(static_cast<int64_t>(i)));
    }
  }

  static int64_t dequantizedWords(const KQuantUnpacker &unpacker, int64_t k) {
    return k / wordCodes + k / KQuantUnpacker::values * scaleWords(unpacker);
  }

  Emitter::Values add(ValueRange accumulators) {
    Emitter::Values partials = initialPartials();
    partials = e.loop(e.index(0), e.index(KQuantUnpacker::pairs), 1, partials,
                      [&](Value pair, ValueRange before) { return addPair(pair, before); });
    for (auto [i, partial] : llvm::enumerate(partials))
      partial = e.fma(partial, e.broadcast(loadRowScale(rows[i / vectors()])), accumulators[i]);
    return partials;
  }

  // Rows of the stack buffer that the scales of a tile take.
  static int64_t scaleRows(const KQuantUnpacker &unpacker, const TileOperands &tile) {
    return groups(unpacker) * static_cast<int64_t>(tile.panels.size());
  }

private:
  static constexpr int64_t maxMinimum = 63;
  // Slots of a run whose lines are prefetched while the block begins; the others go with its words.
  static constexpr int64_t beginSlots = 2;

  static int64_t groups(const KQuantUnpacker &unpacker) { return KQuantUnpacker::values / unpacker.groupValues; }
  static int64_t scaleWords(const KQuantUnpacker &unpacker) { return groups(unpacker) + (unpacker.minima ? 3 : 0); }
  // The words of dequantized panels: codes from a value of the block on, the scale of a group, the minima.
  Value codeIndex(Value first) { return e.div(e.add(k, first), wordCodes); }
  Value scaleIndex(Value index) {
    Value block = e.mul(e.div(k, KQuantUnpacker::values), scaleWords(unpacker));
    return e.add(e.add(block, index), tile.k / wordCodes);
  }
  Value minimaIndex(int64_t index) { return scaleIndex(e.index(groups(unpacker) + index)); }

  int64_t vectors() const { return static_cast<int64_t>(tile.panels.size()); }
  int64_t sumsPerGroup() const { return vectors() * static_cast<int64_t>(tile.rows.size()); }
  // Whether there are registers for the sums of two groups beside the partial sums.
  bool takesBothRuns() const {
    return !tile.dequantized && 3 * sumsPerGroup() <= (e.traits.hasLargeRegisterFile() ? 24 : 12);
  }

  Emitter::Values initialPartials() {
    for (auto [v, column] : llvm::enumerate(columns)) {
      if (!tile.dequantized)
        for (auto [group, scale] : llvm::enumerate(unpacker.scales(column)))
          e.store(scale, scales, {stackRow(e.index(static_cast<int64_t>(group)), v), e.index(0)});
      prefetchAtBegin(static_cast<int64_t>(v));
    }
    Emitter::Values partials(sumsPerGroup(), e.splat(0));
    if (!unpacker.minima)
      return partials;
    for (auto [v, column] : llvm::enumerate(columns)) {
      KQuantMinima minima = loadMinima(v);
      Value scale = arith::NegFOp::create(e.b, e.loc, minima.scale);
      for (auto [r, row] : llvm::enumerate(rows))
        partials[r * vectors() + v] = e.mulf(column.toFloat(multiplyMinima(column, minima, row)), scale);
    }
    return partials;
  }

  // The row of the stack buffer that holds a group's scales.
  Value stackRow(Value group, size_t vector) { return e.add(e.mul(group, vectors()), static_cast<int64_t>(vector)); }
  Value loadScale(Value group, size_t vector) {
    if (tile.dequantized)
      return tile.dequantized.loadFloat(e, scaleIndex(group), tile.dequantizedLanes[vector]);
    return e.load(scales, {stackRow(group, vector), e.index(0)});
  }
  KQuantMinima loadMinima(size_t vector) {
    if (!tile.dequantized)
      return unpacker.minima(columns[vector]);
    auto minima = [&](int64_t i) { return tile.dequantized.load(e, minimaIndex(i), tile.dequantizedLanes[vector]); };
    return {{minima(0), minima(1)}, tile.dequantized.loadFloat(e, minimaIndex(2), tile.dequantizedLanes[vector])};
  }
  Value loadCodes(size_t vector, Value pair, Value first, int64_t second, int64_t word) {
    if (tile.dequantized)
      return tile.dequantized.load(e, codeIndex(indexInBlock(first, second, word)), tile.dequantizedLanes[vector]);
    return unpacker.codes(columns[vector], pair, second, word);
  }

  // Sums of 32 codes are stored as two digits: 128 * high + low.
  Value multiplyMinima(BlockReader &column, const KQuantMinima &minima, BlockReader &row) {
    auto product = [&](int64_t digit) {
      Value sum = zeroSum();
      for (auto [i, words] : llvm::enumerate(minima.minima)) {
        Value sums = row.scalar(digitsField, e.index(2 * digit + static_cast<int64_t>(i)));
        sum = dot(sum, words, maxMinimum, e.broadcast(sums));
      }
      return sum;
    };
    Value low = product(0);
    return column.plus(column.shiftLeft(product(1), 7), low);
  }

  Emitter::Values addPair(Value pair, ValueRange before) {
    Emitter::Values partials(before);
    Value first = unpacker.firstIndex(e, pair);
    int64_t words = unpacker.groupValues / wordCodes;
    if (prefetches)
      pairLines = prefetches->linesOfPair(pair);
    prefetchFirst(pair);
    for (int64_t from = 0; from < runWords; from += words) {
      Emitter::Values sums[2];
      for (int64_t second : {0, 1})
        sums[second] = initialSums(indexInBlock(first, second, from));
      for (int64_t i = 0; i < 2 * words; ++i) {
        int64_t second = takesBothRuns() ? i % 2 : i / words, word = from + (takesBothRuns() ? i / 2 : i % words);
        if (word > 0)
          prefetch(pair, second, word);
        addWord(pair, first, second, word, sums[second]);
        if (word == from + words - 1)
          addGroup(indexInBlock(first, second, from), sums[second], partials);
      }
    }
    return partials;
  }

  // The index in the block of the first value of a run's word.
  Value indexInBlock(Value first, int64_t second, int64_t word) {
    return e.add(first, second * unpacker.runDistance + word * wordCodes);
  }

  // First slots may have branches. Dot products would be moved across these, but not what they load.
  void prefetchFirst(Value pair) {
    prefetch(pair, 0, 0);
    prefetch(pair, 1, 0);
  }
  void prefetch(Value pair, int64_t second, int64_t slot) {
    constexpr int64_t run = KQuantUnpacker::runLength;
    if (tile.prefetch && !prefetches)
      tile.prefetch(e.add(k, e.add(e.mul(pair, 2 * run), second * run)), {slot, runWords + beginSlots});
  }
  // Memory would be idle while scales and minima are unpacked: the slots of all runs, divided among the columns.
  void prefetchAtBegin(int64_t column) {
    if (prefetches)
      return prefetches->prefetchScales({column, vectors()});
    constexpr int64_t all = 2 * KQuantUnpacker::pairs * beginSlots;
    for (int64_t i = all * column / vectors(); i < all * (column + 1) / vectors(); ++i) {
      int64_t run = i / beginSlots;
      prefetch(e.index(run / 2), run % 2, runWords + i % beginSlots);
    }
  }

  // The words of both runs of a pair alternate.
  PrefetchSlot slotOfWord(int64_t second, int64_t word, int64_t column) const {
    return {(2 * word + second) * vectors() + column, 2 * runWords * vectors()};
  }

  Emitter::Values initialSums(Value index) {
    if (!unpacker.hasZeroPoint)
      return Emitter::Values(sumsPerGroup(), zeroSum());
    Emitter::Values sums;
    for (BlockReader &row : rows)
      sums.append(vectors(), e.broadcast(row.scalar(foldedSumsField, e.div(index, unpacker.groupValues))));
    return sums;
  }

  void addWord(Value pair, Value first, int64_t second, int64_t word, MutableArrayRef<Value> sums) {
    Emitter::Values codes;
    for (int64_t v = 0; v < vectors(); ++v) {
      if (prefetches)
        prefetches->prefetch(pairLines, slotOfWord(second, word, v));
      codes.push_back(loadCodes(v, pair, first, second, word));
    }
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value x = e.broadcast(loadActivations(row, first, second, word));
      for (auto [v, code] : llvm::enumerate(codes)) {
        Value &sum = sums[r * vectors() + v];
        sum = dot(sum, code, unpacker.maxCode, x);
      }
    }
  }

  // Four codes of a row, as a word; a lane of several words where that costs no instruction.
  Value loadActivations(BlockReader &row, Value first, int64_t second, int64_t word) {
    int64_t atOnce = e.traits.fmaFromLane ? e.lanes : 1, lane = word % atOnce;
    Value at = e.add(e.div(first, wordCodes), second * unpacker.runDistance / wordCodes + word - lane);
    return vector::ExtractOp::create(e.b, e.loc, row.scalars(codesField, at, atOnce), lane);
  }

  void addGroup(Value index, ValueRange sums, MutableArrayRef<Value> partials) {
    for (auto [v, column] : llvm::enumerate(columns)) {
      Value scale = loadScale(e.div(index, unpacker.groupValues), v);
      for (size_t i = v; i < partials.size(); i += vectors())
        partials[i] = e.fma(column.toFloat(sums[i]), scale, partials[i]);
    }
  }

  Value loadRowScale(BlockReader &row) {
    return vector::ExtractOp::create(e.b, e.loc, row.number(scaleField, e.b.getF32Type()), 0);
  }
  Value zeroSum() { return columns.front().constant(0); }
  Value dot(Value sum, Value codes, int64_t maxCode, Value x) {
    return kernel::DotOp::create(e.b, e.loc, sum, asBytes(codes), asBytes(x), maxCode, /*isSigned=*/false);
  }
  Value asBytes(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({wordCodes * e.lanes}, e.b.getI8Type()), words);
  }

  Emitter &e;
  const KQuantUnpacker &unpacker;
  const TileOperands &tile;
  const Value scales, k;  // scales: on the stack
  std::vector<BlockReader> columns, rows;
  std::optional<KQuantPrefetch> prefetches;
  std::vector<KQuantPrefetch::Lines> pairLines;
};

class KQuantMicrokernel final : public IntegerMicrokernel {
public:
  KQuantMicrokernel(const StorageFormat &weight, const IsaTraits &traits, const KQuantUnpacker &unpacker)
      : IntegerMicrokernel(Kind::KQuant, weight, traits, unpacker.maxCode), unpacker(unpacker) {}

  // With a large register file each row has one vector.
  int64_t tileRows() const override {
    return traits.hasLargeRegisterFile() ? accumulators() : IntegerMicrokernel::tileRows();
  }
  // With few registers those of a panel of 16, as one stream.
  int64_t rowColumns() const override {
    return traits.hasFewRegisters() ? 2 * traits.lanes : IntegerMicrokernel::rowColumns();
  }
  int64_t unroll() const override { return KQuantUnpacker::runLength; }

  // Two blocks: scales lie before all codes, and hardware prefetchers that meet them fetch less ahead. One block of a
  // single stream.
  int64_t prefetchDistance(int64_t linesPerIteration) const override {
    return (traits.hasFewRegisters() ? 1 : 2) * weight.blockValues / KQuantUnpacker::runLength * linesPerIteration;
  }
  // With a large register file rows of streams that hardware prefetchers do not follow.
  int64_t prefetchRows() const override {
    return traits.hasLargeRegisterFile() && !isHardwarePrefetched() ? 3 : IntegerMicrokernel::prefetchRows();
  }

  int64_t minRowsToDequantize() const override { return minRowsToDequantizeCodes(unpacker.isSlow); }
  int64_t dequantizedWords(int64_t k) const override { return KQuantBlock::dequantizedWords(unpacker, k); }
  void dequantize(const MatmulContext &c, const TileOperands &tile) const override {
    c.e.loop(c.e.index(0), c.e.index(tile.k), KQuantUnpacker::values,
             [&](Value k) { KQuantBlock(c, unpacker, tile, Value(), k).dequantize(); });
  }

  void multiply(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) const override {
    Emitter &e = c.e;
    Value scales = tile.dequantized ? Value() : allocateScales(c, tile);
    sums.store(
        e.loop(e.index(0), e.index(tile.k), KQuantUnpacker::values, sums.load(),
               [&](Value k, ValueRange before) { return KQuantBlock(c, unpacker, tile, scales, k).add(before); }));
  }

private:
  // In the function's frame.
  Value allocateScales(const MatmulContext &c, const TileOperands &tile) const {
    OpBuilder::InsertionGuard guard(c.e.b);
    c.e.b.setInsertionPoint(c.tasks);
    return c.e.stackBuffer({KQuantBlock::scaleRows(unpacker, tile), c.e.lanes});
  }

  const KQuantUnpacker &unpacker;
};

}  // namespace

std::unique_ptr<const Microkernel> makeKQuantMicrokernel(const StorageFormat &weight, const IsaTraits &traits) {
  return std::make_unique<KQuantMicrokernel>(weight, traits, *findKQuantUnpacker(weight.name));
}

}  // namespace talc
