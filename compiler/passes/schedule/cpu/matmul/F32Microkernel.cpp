// SPDX-License-Identifier: Apache-2.0
// Multiplies by a weight that is converted or dequantized to f32, one k at a time.
//
// Quant blocks take five to ten instructions for a vector of values, so many rows pass panels that were dequantized
// once for all of them.
//
// Where a stored value is the upper half of an f32 (bf16), two neighboring vectors of columns are one vector of words,
// and a shift and a mask convert both; a vector by itself takes a shuffle and a shift, on the units that multiply. Sums
// are in the order of words meanwhile:
//
//   memory         a b c d ...
//   words          ba  dc  ...
//   words << 16    a0  c0  ...        even columns
//   words & mask   b0  d0  ...        odd columns
#include "compiler/passes/schedule/cpu/matmul/FloatMicrokernel.h"
#include "compiler/passes/schedule/cpu/matmul/LaneOrder.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"
#include "compiler/passes/schedule/storage/BlockReader.h"
#include "compiler/passes/schedule/storage/LoadsAndStores.h"

using namespace mlir;

namespace talc {

namespace {

// A run of 16 4-bit codes is in the low halves of bytes, the next run in their high halves, and four neighbors share a
// word. LLVM sees which half and which byte of the word a code is if a loop has one run, and an iteration takes four.
constexpr int64_t runLength = 16, codesPerWord = 4;

class F32Tile {
public:
  F32Tile(const MatmulContext &c, const TileOperands &tile)
      : c(c), e(c.e), tile(tile), rows(static_cast<int64_t>(tile.rows.size())),
        vectors(static_cast<int64_t>(tile.panels.size())), format(*c.plan.shape.weightFormat),
        blockValues(format.blockValues) {}

  void dequantize() {
    e.loop(e.index(0), e.index(tile.k), blockValues, [&](Value block) {
      forEachRun({}, [&](Value from, int64_t count, ValueRange) {
        const int64_t unroll = count == runLength ? codesPerWord : 1;
        e.loop(e.index(0), e.index(count), unroll, [&](Value first) {
          for (int64_t i = 0; i < unroll; ++i)
            dequantize(block, indexInBlock(from, e.add(first, i), count));
        });
        return Emitter::Values();
      });
    });
  }

  // Goes block by block, so that what a block has once, its scale, is loaded once.
  Emitter::Values accumulate(ValueRange sums) {
    if (tile.dequantized || blockValues == 1)
      return accumulate(e.index(0), e.index(0), tile.k, sums);
    return e.loop(e.index(0), e.index(tile.k), blockValues, sums, [&](Value block, ValueRange carried) {
      return forEachRun(
          carried, [&](Value from, int64_t count, ValueRange sums) { return accumulate(block, from, count, sums); });
    });
  }

private:
  using RunBody = llvm::function_ref<Emitter::Values(Value from, int64_t count, ValueRange sums)>;
  Emitter::Values forEachRun(ValueRange sums, RunBody body) {
    if (blockValues % (2 * runLength) != 0)
      return body(e.index(0), blockValues, sums);
    return e.loop(e.index(0), e.index(blockValues), 2 * runLength, sums, [&](Value pair, ValueRange carried) {
      return body(e.add(pair, runLength), runLength, body(pair, runLength, carried));
    });
  }

  // The remainder is k itself, and tells LLVM that it does not leave its run.
  Value indexInBlock(Value from, Value k, int64_t count) {
    return e.add(from, count == runLength ? e.rem(k, runLength) : k);
  }

  void dequantize(Value block, Value index) {
    for (int64_t v = 0; v < vectors; ++v)
      tile.dequantized.store(e, loadWeight(block, index, v), e.add(block, index), tile.dequantizedLanes[v]);
  }

  // Takes `count` k of a block, beginning with its value `from`.
  Emitter::Values accumulate(Value block, Value from, int64_t count, ValueRange sums) {
    const Value first = e.add(block, from);
    RegisterTile registers{rows, vectors, c.plan.tunables.unroll, nullptr, [&](Value k, int64_t v) {
                             return convertsPairs() ? loadHalf(k, v) : loadB(block, indexInBlock(from, k, count), v);
                           }};
    registers.readA(e, [&](int64_t r, Value k) {
      return std::pair(c.x, Emitter::Values{tile.rows[r], e.add(e.add(tile.features[r], first), k)});
    });
    if (tile.prefetch)
      registers.begin = [&](Value k) { tile.prefetch(e.add(first, k), {}); };
    if (!convertsPairs())
      return registers.accumulate(e, sums, count);
    LaneOrder evenAndOdd(e.lanes, [](int64_t vector, int64_t lane) { return 2 * lane + vector; });
    return evenAndOdd.restore(e, registers.accumulate(e, evenAndOdd.apply(e, sums), count));
  }

  Value loadB(Value block, Value index, int64_t v) {
    return tile.dequantized ? tile.dequantized.loadFloat(e, index, tile.dequantizedLanes[v])
                            : loadWeight(block, index, v);
  }

  // The vector at an index of the block that begins at `block`.
  Value loadWeight(Value block, Value index, int64_t v) {
    Emitter::Values at = {tile.panels[v], e.add(tile.firstK, block), tile.lanes[v]};
    if (blockValues == 1) {
      at[1] = e.add(at[1], index);
      return e.load(c.weight, at);
    }
    BlockAddress address = blockAddress(e, c.weight, at);
    address.value = index;
    return talc::dequantize(e, format, address);
  }

  // If rows are fewer than vectors, vectors are loaded one by one, and each cache line would be loaded twice.
  bool convertsPairs() const {
    bool isEven = c.plan.sliceLanes(rows) / e.lanes % 2 == 0;
    return !tile.dequantized && isEven && rows >= vectors && !e.traits.convertsBf16 && format.isUpperHalf;
  }

  // The even columns of two vectors, or the odd ones.
  Value loadHalf(Value k, int64_t v) {
    auto type = VectorType::get({2 * e.lanes}, e.b.getBF16Type());
    auto wordType = VectorType::get({e.lanes}, e.b.getI32Type());
    Value at[] = {tile.panels[v], e.add(tile.firstK, k), tile.lanes[v / 2 * 2]};
    Value columns = vector::LoadOp::create(e.b, e.loc, type, c.weight, at);
    Value words = vector::BitCastOp::create(e.b, e.loc, wordType, columns);
    auto constant = [&](int32_t number) -> Value {
      return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(wordType, number));
    };
    constexpr auto upperHalf = static_cast<int32_t>(0xffff0000);
    Value bits = v % 2 == 0 ? Value(arith::ShLIOp::create(e.b, e.loc, words, constant(16)))
                            : Value(arith::AndIOp::create(e.b, e.loc, words, constant(upperHalf)));
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({e.lanes}, e.b.getF32Type()), bits);
  }

  const MatmulContext &c;
  Emitter &e;
  const TileOperands &tile;
  const int64_t rows, vectors;
  const StorageFormat &format;
  const int64_t blockValues;
};

class F32Microkernel final : public FloatMicrokernel {
public:
  F32Microkernel(const StorageFormat &weight, const IsaTraits &traits) : FloatMicrokernel(Kind::F32, weight, traits) {}

  // As many multiply-adds with narrow vectors, of which a tile has half as many.
  int64_t unroll() const override {
    if (weight.blockValues > 1)
      return codesPerWord;
    return traits.hasLargeRegisterFile() ? 2 : 4;
  }
  int64_t kUnit(const StorageFormat &) const override { return weight.blockValues; }
  int64_t tallTileRows() const override { return traits.hasLargeRegisterFile() ? 8 : 0; }

  // Values of 16 bits leave memory time enough; three rows of f32 wait for each line, and lose by prefetching more.
  int64_t prefetchRows() const override {
    bool is16Bit = weight.blockValues == 1 && weight.blockBytes == 2;
    return is16Bit && traits.hasFewRegisters() ? 3 : 1;
  }

  void multiply(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) const override {
    sums.store(F32Tile(c, tile).accumulate(sums.load()));
  }

  // More rows than a tile has. A tall tile has half as many columns, too few to hide what it takes to dequantize them.
  bool canDequantizePanels() const override { return true; }
  int64_t minRowsToDequantize() const override { return weight.blockValues > 1 ? registerTileRows + 1 : 0; }
  int64_t dequantizedWords(int64_t k) const override { return k; }
  void dequantize(const MatmulContext &c, const TileOperands &tile) const override { F32Tile(c, tile).dequantize(); }
};

}  // namespace

std::unique_ptr<const Microkernel> makeF32Microkernel(const StorageFormat &weight, const IsaTraits &traits) {
  return std::make_unique<F32Microkernel>(weight, traits);
}

}  // namespace talc
