// SPDX-License-Identifier: Apache-2.0
// A tile multiplies by a weight that is widened to f32, one k at a time.
//
// Blocks take five to ten instructions for a vector of numbers: many rows pass numbers that were widened once for all
// of them (DequantizedLayout).
//
// Where a stored value is the upper half of an f32 (bf16), two neighbouring vectors of columns are one vector of words,
// and a shift and a mask widen both; a vector by itself takes a shuffle and a shift, on the units that multiply. Sums
// are in the order of words meanwhile:
//
//   memory         a b c d ...
//   words          ba  dc  ...
//   words << 16    a0  c0  ...        even columns
//   words & mask   b0  d0  ...        odd columns
#include "compiler/passes/schedule/cpu/matmul/LaneOrder.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"
#include "compiler/passes/schedule/storage/BlockReader.h"
#include "compiler/passes/schedule/storage/DequantLoads.h"

using namespace mlir;

namespace talc {

namespace {

// A stretch of levels of four bits is in the low halves of bytes, the next one in their high halves, and those of four
// neighbours are in a word. Which half and which byte of it, LLVM sees where a loop has one stretch, and an iteration
// takes four.
constexpr int64_t stretch = 16, ofWord = 4;

class Widened {
public:
  Widened(const MatmulContext &c, const TileOperands &tile)
      : c(c), e(c.e), tile(tile), rows(static_cast<int64_t>(tile.rows.size())),
        vectors(static_cast<int64_t>(tile.panels.size())), format(elementFormat(cast<ShapedType>(c.weight.getType()))),
        unit(format.blockValues) {}

  // Vectors of a tile without rows.
  void layOut() {
    e.loop(e.index(0), e.index(tile.depth), unit, [&](Value block) {
      eachStretch({}, [&](Value from, int64_t depth, ValueRange) {
        const int64_t steps = depth == stretch ? ofWord : 1;
        e.loop(e.index(0), e.index(depth), steps, [&](Value first) {
          for (int64_t i = 0; i < steps; ++i)
            layOut(block, placeOf(from, e.add(first, i), depth));
        });
        return Emitter::Values();
      });
    });
  }

  // By blocks of the weight, so that what a block has once, its scale, is unpacked once.
  Emitter::Values accumulate(ValueRange before) {
    if (tile.laidOut || unit == 1)
      return accumulate(e.index(0), e.index(0), tile.depth, before);
    return e.loop(e.index(0), e.index(tile.depth), unit, before, [&](Value block, ValueRange carried) {
      return eachStretch(
          carried, [&](Value from, int64_t depth, ValueRange sums) { return accumulate(block, from, depth, sums); });
    });
  }

private:
  using Stretch = llvm::function_ref<Emitter::Values(Value from, int64_t depth, ValueRange before)>;
  Emitter::Values eachStretch(ValueRange before, Stretch body) {
    if (unit % (2 * stretch) != 0)
      return body(e.index(0), unit, before);
    return e.loop(e.index(0), e.index(unit), 2 * stretch, before, [&](Value pair, ValueRange carried) {
      return body(e.add(pair, stretch), stretch, body(pair, stretch, carried));
    });
  }

  // The remainder is k itself, and says that it does not leave its stretch.
  Value placeOf(Value from, Value k, int64_t depth) { return e.add(from, depth == stretch ? e.rem(k, stretch) : k); }

  void layOut(Value block, Value place) {
    for (int64_t v = 0; v < vectors; ++v)
      tile.laidOut.store(e, whole(block, place, v), e.add(block, place), tile.laidOutLanes[v]);
  }

  // `depth` k of a block, from a place on.
  Emitter::Values accumulate(Value block, Value from, int64_t depth, ValueRange before) {
    const Value first = e.add(block, from);
    RegisterTile registers{rows, vectors, c.plan.tileSteps, nullptr, [&](Value k, int64_t v) {
                             return inWords() ? half(k, v) : number(block, placeOf(from, k, depth), v);
                           }};
    registers.readA(e, [&](int64_t r, Value k) {
      return std::pair(c.x, Emitter::Values{tile.rows[r], e.add(e.add(tile.features[r], first), k)});
    });
    if (tile.fetch)
      registers.begin = [&](Value k) { tile.fetch(e.add(first, k), {}); };
    if (!inWords())
      return registers.accumulate(e, before, depth);
    LaneOrder evenAndOdd(e.lanes, [](int64_t vector, int64_t lane) { return 2 * lane + vector; });
    return evenAndOdd.together(e, registers.accumulate(e, evenAndOdd.apart(e, before), depth));
  }

  Value number(Value first, Value k, int64_t v) {
    return tile.laidOut ? tile.laidOut.loadNumber(e, k, tile.laidOutLanes[v]) : whole(first, k, v);
  }

  // Of the k-th numbers from `first` on, where a block begins.
  Value whole(Value first, Value k, int64_t v) {
    Emitter::Values at = {tile.panels[v], e.add(tile.firstK, first), tile.lanes[v]};
    if (unit == 1) {
      at[1] = e.add(at[1], k);
      return e.load(c.weight, at);
    }
    BlockAddress place = blockAddress(e, c.weight, at);
    place.value = k;
    return dequantize(e, format, place);
  }

  // Where rows are fewer than vectors, these are loaded one by one, and each line would be twice. NEON, whose vectors
  // have four lanes, widens each by one instruction.
  bool inWords() const {
    bool even = c.plan.pieceLanes(rows) / e.lanes % 2 == 0;
    return !tile.laidOut && even && rows >= vectors && e.lanes > 4 && format.isUpperHalf;
  }

  Value half(Value k, int64_t v) {
    auto type = VectorType::get({2 * e.lanes}, e.b.getBF16Type());
    auto wordType = VectorType::get({e.lanes}, e.b.getI32Type());
    Value at[] = {tile.panels[v], e.add(tile.firstK, k), tile.lanes[v / 2 * 2]};
    Value columns = vector::LoadOp::create(e.b, e.loc, type, c.weight, at);
    Value words = vector::BitCastOp::create(e.b, e.loc, wordType, columns);
    auto constant = [&](int32_t number) -> Value {
      return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(wordType, number));
    };
    constexpr auto upper = static_cast<int32_t>(0xffff0000);
    Value wide = v % 2 == 0 ? Value(arith::ShLIOp::create(e.b, e.loc, words, constant(16)))
                            : Value(arith::AndIOp::create(e.b, e.loc, words, constant(upper)));
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({e.lanes}, e.b.getF32Type()), wide);
  }

  const MatmulContext &c;
  Emitter &e;
  const TileOperands &tile;
  const int64_t rows, vectors;
  const StorageFormat &format;
  const int64_t unit;  // neighbours of k in a block
};

void multiplyWidened(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) {
  sums.store(Widened(c, tile).accumulate(sums.before()));
}

// Numbers of 16 bits leave memory time enough: three rows of f32 wait for each line, and lose by fetching more of them.
int64_t rowsAhead(const StorageFormat &weight, int64_t lanes) {
  bool half = weight.blockValues == 1 && weight.blockBytes == 2;
  return half && lanes == 8 ? 3 : 1;
}

constexpr DequantizedLayout layout = {
    // More than a tile has. A tall one has half as many columns, too few to hide what it takes to unpack them.
    [](const StorageFormat &weight, int64_t) { return weight.blockValues > 1 ? tileRows + 1 : 0; },
    [](const StorageFormat &, int64_t depth) { return depth; },
    [](const MatmulContext &c, const TileOperands &tile) { Widened(c, tile).layOut(); },
};

}  // namespace

// As many multiply-adds with narrow vectors, of which a tile has half as many.
const Microkernel f32Microkernel = {
    rowsOfNumbers,
    columnsOfNumbers,
    columnsOfNumberRow,
    [](const StorageFormat &weight, int64_t lanes) { return weight.blockValues > 1 ? ofWord
                                                            : lanes > 8            ? 2
                                                                                   : 4; },
    /*fixedSteps=*/false,
    /*depthUnit=*/[](const StorageFormat &weight, const StorageFormat &) { return weight.blockValues; },
    fetchAheadOfNumbers,
    blockOfNumbers,
    /*rowsStay=*/true,
    multiplyWidened,
    rowsOfTallTile,
    /*streams=*/true,
    &layout,
    rowsAhead};

}  // namespace talc
