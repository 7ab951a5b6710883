// SPDX-License-Identifier: Apache-2.0
// A tile multiplies rows that were rounded with a scale for 256 values by blocks of 256 values.
//
//   for each block of k                            of all rows, of vectors of columns
//     steps of all groups as f32, once for all rows, wait on the stack
//     part = -step of the minima * (minima * sums of 32 integers of the row), if the format has offsets
//     for each group
//       sums = dot products of its levels with the row's integers
//       part = part + sums * step of the group
//     accumulator = accumulator + part * scale of the row
//
// Of 72 instructions that multiply, 64 are dot products then: what else a row has of its own is taken once for 256 k.
// Where levels take more than a shift and a mask, many rows find all of that unpacked.
// Sums of integers are exact, and the order of groups is that of memory, so that no tile makes other bits: a pair of
// stretches shares words, and where registers are enough both take a word together.
#include "compiler/passes/schedule/cpu/matmul/KQuantPrefetch.h"
#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t word = 4;  // integers that a dot product takes at once
// Fields of rounded rows.
enum : int64_t { scaleField, digitsField, beginsField, integersField };

// A block of k.
class Block {
public:
  Block(const MatmulContext &c, const KQuantUnpacker &blocks, const TileOperands &tile, Value steps, Value k)
      : e(c.e), blocks(blocks), tile(tile), steps(steps), k(k) {
    const StorageFormat &format = elementFormat(cast<ShapedType>(c.weight.getType()));
    for (auto [panel, lane] : llvm::zip(tile.panels, tile.lanes)) {
      BlockAddress place = blockAddress(e, c.weight, ValueRange{panel, e.add(tile.firstK, k), lane});
      place.value = e.index(0);
      columns.emplace_back(e, format, place, e.lanes);
    }
    for (auto [row, feature] : llvm::zip(tile.rows, tile.features))
      rows.emplace_back(e, c.x, ValueRange{row, e.add(feature, k)}, 1);
    if (KQuantPrefetch::serve(c, tile))
      streams.emplace(c, blocks, tile, k);
  }

  // For each of k the levels; behind them the steps of all groups, and what is below zero.
  void layOut() {
    for (size_t v = 0; v < columns.size(); ++v) {
      BlockReader &column = columns[v];
      auto store = [&](Value words, Value place) { tile.laidOut.store(e, words, place, tile.laidOutLanes[v]); };
      e.loop(e.index(0), e.index(KQuantUnpacker::pairs), 1, [&](Value pair) {
        for (int64_t i = 0; i < 2 * stretchWords; ++i)
          store(blocks.levels(column, pair, i % 2, i / 2), levelPlace(placeOf(blocks.firstOf(e, pair), i % 2, i / 2)));
      });
      for (auto [group, step] : llvm::enumerate(blocks.steps(column)))
        store(step, scalesPlace(e.index(static_cast<int64_t>(group))));
      if (!blocks.offsets)
        continue;
      KQuantMinima offsets = blocks.offsets(column);
      const Value words[] = {offsets.minima[0], offsets.minima[1], offsets.step};
      for (int64_t i = 0; i < 3; ++i)
        store(words[i], offsetsPlace(i));
    }
  }

  static int64_t laidOutWords(const KQuantUnpacker &blocks, int64_t depth) {
    return depth / word + depth / KQuantUnpacker::values * scaleWords(blocks);
  }

  Emitter::Values add(ValueRange accumulators) {
    Emitter::Values parts = begin();
    parts = e.loop(e.index(0), e.index(KQuantUnpacker::pairs), 1, parts,
                   [&](Value pair, ValueRange before) { return addPair(pair, before); });
    for (auto [i, part] : llvm::enumerate(parts))
      part = e.fma(part, e.broadcast(scaleOf(rows[i / vectors()])), accumulators[i]);
    return parts;
  }

  // Rows of the stack that the steps of a tile take.
  static int64_t stepsOf(const KQuantUnpacker &blocks, const TileOperands &tile) {
    return groups(blocks) * static_cast<int64_t>(tile.panels.size());
  }

private:
  static constexpr int64_t stretchWords = KQuantUnpacker::stretch / word;
  static constexpr int64_t mostMinimum = 63;
  // Of a stretch, what is fetched ahead while the block begins; the rest goes with its words.
  static constexpr int64_t beginTurns = 2;

  static int64_t groups(const KQuantUnpacker &blocks) { return KQuantUnpacker::values / blocks.group; }
  static int64_t scaleWords(const KQuantUnpacker &blocks) { return groups(blocks) + (blocks.offsets ? 3 : 0); }
  // Where unpacked words lie: levels from a place of the block on, the step of a group, what is below zero.
  Value levelPlace(Value first) { return e.div(e.add(k, first), word); }
  Value scalesPlace(Value number) {
    Value block = e.mul(e.div(k, KQuantUnpacker::values), scaleWords(blocks));
    return e.add(e.add(block, number), tile.depth / word);
  }
  Value offsetsPlace(int64_t number) { return scalesPlace(e.index(groups(blocks) + number)); }

  int64_t vectors() const { return static_cast<int64_t>(tile.panels.size()); }
  int64_t sumsOfGroup() const { return vectors() * static_cast<int64_t>(tile.rows.size()); }
  // Sums of two groups beside the parts.
  bool takesBoth() const { return !tile.laidOut && 3 * sumsOfGroup() <= (e.lanes > 8 ? 24 : 12); }

  Emitter::Values begin() {
    for (auto [v, column] : llvm::enumerate(columns)) {
      if (!tile.laidOut)
        for (auto [group, step] : llvm::enumerate(blocks.steps(column)))
          e.store(step, steps, {stepsPlace(e.index(static_cast<int64_t>(group)), v), e.index(0)});
      fetchAtBegin(static_cast<int64_t>(v));
    }
    Emitter::Values parts(sumsOfGroup(), e.splat(0));
    if (!blocks.offsets)
      return parts;
    for (auto [v, column] : llvm::enumerate(columns)) {
      KQuantMinima offsets = offsetsOf(v);
      Value step = arith::NegFOp::create(e.b, e.loc, offsets.step);
      for (auto [r, row] : llvm::enumerate(rows))
        parts[r * vectors() + v] = e.mulf(column.toFloat(minimaOf(column, offsets, row)), step);
    }
    return parts;
  }

  // On the stack.
  Value stepsPlace(Value group, size_t vector) { return e.add(e.mul(group, vectors()), static_cast<int64_t>(vector)); }
  Value stepOf(Value group, size_t vector) {
    if (tile.laidOut)
      return tile.laidOut.loadNumber(e, scalesPlace(group), tile.laidOutLanes[vector]);
    return e.load(steps, {stepsPlace(group, vector), e.index(0)});
  }
  KQuantMinima offsetsOf(size_t vector) {
    if (!tile.laidOut)
      return blocks.offsets(columns[vector]);
    auto minima = [&](int64_t i) { return tile.laidOut.load(e, offsetsPlace(i), tile.laidOutLanes[vector]); };
    return {{minima(0), minima(1)}, tile.laidOut.loadNumber(e, offsetsPlace(2), tile.laidOutLanes[vector])};
  }
  Value levelsOf(size_t vector, Value pair, Value first, int64_t second, int64_t number) {
    if (tile.laidOut)
      return tile.laidOut.load(e, levelPlace(placeOf(first, second, number)), tile.laidOutLanes[vector]);
    return blocks.levels(columns[vector], pair, second, number);
  }

  // Sums of 32 integers are 128 * high + low.
  Value minimaOf(BlockReader &column, const KQuantMinima &offsets, BlockReader &row) {
    auto product = [&](int64_t digit) {
      Value sum = noSum();
      for (auto [i, minima] : llvm::enumerate(offsets.minima)) {
        Value sums = row.scalar(digitsField, e.index(2 * digit + static_cast<int64_t>(i)));
        sum = dot(sum, minima, mostMinimum, e.broadcast(sums));
      }
      return sum;
    };
    Value low = product(0);
    return column.plus(column.left(product(1), 7), low);
  }

  Emitter::Values addPair(Value pair, ValueRange before) {
    Emitter::Values parts(before);
    Value first = blocks.firstOf(e, pair);
    int64_t words = blocks.group / word;
    if (streams)
      linesOfPair = streams->ofPair(pair);
    fetchFirst(pair);
    for (int64_t from = 0; from < stretchWords; from += words) {
      Emitter::Values sums[2];
      for (int64_t second : {0, 1})
        sums[second] = sumsBegin(placeOf(first, second, from));
      for (int64_t i = 0; i < 2 * words; ++i) {
        int64_t second = takesBoth() ? i % 2 : i / words, number = from + (takesBoth() ? i / 2 : i % words);
        if (number > 0)
          fetch(pair, second, number);
        addWord(pair, first, second, number, sums[second]);
        if (number == from + words - 1)
          bringIn(placeOf(first, second, from), sums[second], parts);
      }
    }
    return parts;
  }

  // Of a word of a stretch the place of its first value.
  Value placeOf(Value first, int64_t second, int64_t number) {
    return e.add(first, second * blocks.apart + number * word);
  }

  // First turns may have branches, which dot products would be moved across, but not what they load.
  void fetchFirst(Value pair) {
    fetch(pair, 0, 0);
    fetch(pair, 1, 0);
  }
  void fetch(Value pair, int64_t second, int64_t number) {
    constexpr int64_t stretch = KQuantUnpacker::stretch;
    if (tile.fetch && !streams)
      tile.fetch(e.add(k, e.add(e.mul(pair, 2 * stretch), second * stretch)), {number, stretchWords + beginTurns});
  }
  // Memory would be idle while steps and minima are unpacked: the turns of all stretches, divided among the columns.
  void fetchAtBegin(int64_t column) {
    if (streams)
      return streams->fetchAtBegin({column, vectors()});
    constexpr int64_t all = 2 * KQuantUnpacker::pairs * beginTurns;
    for (int64_t i = all * column / vectors(); i < all * (column + 1) / vectors(); ++i) {
      int64_t stretch = i / beginTurns;
      fetch(e.index(stretch / 2), stretch % 2, stretchWords + i % beginTurns);
    }
  }

  // Of a pair, the words of both stretches take turns.
  PrefetchSlot turnOf(int64_t second, int64_t number, int64_t column) const {
    return {(2 * number + second) * vectors() + column, 2 * stretchWords * vectors()};
  }

  Emitter::Values sumsBegin(Value place) {
    if (!blocks.aroundZero)
      return Emitter::Values(sumsOfGroup(), noSum());
    Emitter::Values sums;
    for (BlockReader &row : rows)
      sums.append(vectors(), e.broadcast(row.scalar(beginsField, e.div(place, blocks.group))));
    return sums;
  }

  void addWord(Value pair, Value first, int64_t second, int64_t number, MutableArrayRef<Value> sums) {
    Emitter::Values levels;
    for (int64_t v = 0; v < vectors(); ++v) {
      if (streams)
        streams->fetch(linesOfPair, turnOf(second, number, v));
      levels.push_back(levelsOf(v, pair, first, second, number));
    }
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value x = e.broadcast(integersOf(row, first, second, number));
      for (auto [v, level] : llvm::enumerate(levels)) {
        Value &sum = sums[r * vectors() + v];
        sum = dot(sum, level, blocks.most, x);
      }
    }
  }

  // Four of a row, as a word; a lane of several words where that costs no instruction.
  Value integersOf(BlockReader &row, Value first, int64_t second, int64_t number) {
    int64_t together = scalarsFromLanes(e.lanes) ? e.lanes : 1, lane = number % together;
    Value at = e.add(e.div(first, word), second * blocks.apart / word + number - lane);
    return vector::ExtractOp::create(e.b, e.loc, row.scalars(integersField, at, together), lane);
  }

  void bringIn(Value place, ValueRange sums, MutableArrayRef<Value> parts) {
    for (auto [v, column] : llvm::enumerate(columns)) {
      Value step = stepOf(e.div(place, blocks.group), v);
      for (size_t i = v; i < parts.size(); i += vectors())
        parts[i] = e.fma(column.toFloat(sums[i]), step, parts[i]);
    }
  }

  Value scaleOf(BlockReader &row) {
    return vector::ExtractOp::create(e.b, e.loc, row.number(scaleField, e.b.getF32Type()), 0);
  }
  Value noSum() { return columns.front().constant(0); }
  Value dot(Value sum, Value levels, int64_t most, Value x) {
    return kernel::DotOp::create(e.b, e.loc, sum, bytesOf(levels), bytesOf(x), most, /*isSigned=*/false);
  }
  Value bytesOf(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({word * e.lanes}, e.b.getI8Type()), words);
  }

  Emitter &e;
  const KQuantUnpacker &blocks;
  const TileOperands &tile;
  const Value steps, k;
  std::vector<BlockReader> columns, rows;
  std::optional<KQuantPrefetch> streams;
  std::vector<KQuantPrefetch::Lines> linesOfPair;
};

// With AVX-512 a vector to each row.
int64_t rowsOf(const StorageFormat &weight, int64_t lanes) {
  return lanes > 8 ? pairsOfIntegers(weight, lanes) : rowsOfIntegers(weight, lanes);
}

// With 8 lanes those of a panel of 16, as one stream.
int64_t columnsOfRow(const StorageFormat &weight, int64_t lanes) {
  return lanes == 8 ? 2 * lanes : columnsOfIntegerRow(weight, lanes);
}

// Two blocks: scales lie in front of all levels, and a processor that meets them fetches less ahead by itself. Of a
// single stream one.
int64_t fetchAhead(const StorageFormat &weight, int64_t lines, int64_t lanes) {
  return (lanes == 8 ? 1 : 2) * weight.blockValues / KQuantUnpacker::stretch * lines;
}

// With AVX-512 those of a stream that no processor follows: without fetches two and three rows of q6_k took twice as
// long as one.
int64_t rowsAhead(const StorageFormat &weight, int64_t lanes) {
  return lanes > 8 && !areIntegersFollowed(weight) ? 3 : rowsAheadOfIntegers(weight, lanes);
}

const KQuantUnpacker &blocksOf(const MatmulContext &c) {
  return *kQuantUnpacker(elementFormat(cast<ShapedType>(c.weight.getType())).name);
}

// In the function's frame.
Value stackOfSteps(const MatmulContext &c, const TileOperands &tile) {
  OpBuilder::InsertionGuard guard(c.e.b);
  c.e.b.setInsertionPoint(c.tasks);
  return c.e.stackBuffer({Block::stepsOf(blocksOf(c), tile), c.e.lanes});
}

void multiplySuper(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) {
  Emitter &e = c.e;
  const KQuantUnpacker &blocks = blocksOf(c);
  Value steps = tile.laidOut ? Value() : stackOfSteps(c, tile);
  sums.store(e.loop(e.index(0), e.index(tile.depth), KQuantUnpacker::values, sums.before(),
                    [&](Value k, ValueRange before) { return Block(c, blocks, tile, steps, k).add(before); }));
}

void layOutSuper(const MatmulContext &c, const TileOperands &tile) {
  c.e.loop(c.e.index(0), c.e.index(tile.depth), KQuantUnpacker::values,
           [&](Value k) { Block(c, blocksOf(c), tile, Value(), k).layOut(); });
}

constexpr DequantizedLayout layout = {
    [](const StorageFormat &weight, int64_t lanes) {
      return layoutRowsOfIntegers(kQuantUnpacker(weight.name)->laborious, lanes);
    },
    [](const StorageFormat &weight, int64_t depth) { return Block::laidOutWords(*kQuantUnpacker(weight.name), depth); },
    layOutSuper, integersFetchShares, integersKeepOrder};

}  // namespace

const Microkernel kQuantMicrokernel = {rowsOf,
                                       columnsOfIntegers,
                                       columnsOfRow,
                                       [](const StorageFormat &, int64_t) { return KQuantUnpacker::stretch; },
                                       /*fixedSteps=*/true,
                                       valuesOfScale,
                                       fetchAhead,
                                       blockOfIntegers,
                                       /*rowsStay=*/false,
                                       multiplySuper,
                                       tallRowsOfIntegers,
                                       /*streams=*/true,
                                       &layout,
                                       rowsAhead,
                                       areIntegersFollowed};

}  // namespace talc
