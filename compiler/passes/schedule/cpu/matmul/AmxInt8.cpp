// SPDX-License-Identifier: Apache-2.0
// Many rows of integers times a weight's blocks, by the matrix registers of AMX.
//
//   for each panel of the task
//     for each block of k, of up to 8 blocks of 32
//       levels as bytes with a sign, steps and offsets as f32, on the stack
//       for each 16 rows, for each 16 columns                         their accumulators are 16 vectors
//         for each group that shares a step (a block, or half of it)
//           C = A (16 rows x 32 bytes) * B (8 words x 16 columns)     one product, of exact sums
//           C goes to memory; for each row: part = part + C * step + offset * sum
//         accumulator = accumulator + part * scale of the row, where the row's block ends
//     epilogue of the sums, store
//
// Sums of integers are exact and join the same chain as those of IntegerProducts.cpp, so that the bits are the same,
// and few rows are left to that. The floor of a group of 32, 16 rows and 16 columns: 16 cycles for the product, half of
// whose depth stays empty, 16 for the store, and 32 instructions that join the sums, two a cycle: 16 cycles, side by
// side. vpdpbusd takes 64, and the same 16 one after the other. Rows with a scale for every 32 take 16 more.
//
// A last tile of fewer than 16 rows begins further up: it goes first, and what it makes of others' rows is thrown away.
#include "compiler/passes/schedule/cpu/matmul/AmxInt8.h"

#include "compiler/passes/schedule/cpu/matmul/QuantUnpack.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t side = 16, word = 4;
constexpr int64_t blockSteps = 8, blockDepth = blockSteps * integerStep;  // levels of a panel of 64 columns: 16 KiB
// Fields of rounded rows.
enum : int64_t { scaleField, sumsField, integersField = 3 };

// What a block of k of a panel becomes; offsets are null where the format has none.
struct Levels {
  Value bytes, steps, offsets;
};

const QuantUnpacker &blocksOf(const MatmulContext &c) {
  return *quantUnpacker(elementFormat(cast<ShapedType>(c.weight.getType())).name);
}

Value buffer(Emitter &e, ArrayRef<int64_t> shape, Type element) {
  return memref::AllocaOp::create(e.b, e.loc, MemRefType::get(shape, element), e.b.getI64IntegerAttr(64));
}

// Lays out some columns of a block of 32.
class Columns {
public:
  Columns(const MatmulContext &c, Levels &to, Value panel, Value k, int64_t column)
      : e(c.e), blocks(blocksOf(c)), to(to), column(e.index(column)),
        reader(e, c.weight, {panel, k, this->column}, side) {}

  // Its groups are counted from `first` on.
  void layOut(Value first) {
    for (int64_t group = 0; group < integerStep / blocks.group; ++group)
      layOut(e.add(first, group), group);
  }

private:
  void layOut(Value number, int64_t group) {
    int64_t words = blocks.group / word;
    for (int64_t i = 0; i < words; ++i)
      vector::StoreOp::create(e.b, e.loc, levels(group * words + i), to.bytes,
                              ValueRange{number, e.index(i), e.mul(column, word)});
    GroupScales scales = blocks.scales(reader, group);
    e.store(scales.step, to.steps, {number, column});
    if (scales.offset)
      e.store(scales.offset, to.offsets, {number, column});
    else
      to.offsets = {};
  }

  // From zero on, with a sign.
  Value levels(int64_t number) {
    auto bytes = VectorType::get({word * side}, e.b.getI8Type());
    Value levels = vector::BitCastOp::create(e.b, e.loc, bytes, blocks.levels(reader, number, /*rows=*/0));
    if (blocks.zero == 0)
      return levels;
    auto zero = DenseIntElementsAttr::get(bytes, static_cast<int8_t>(blocks.zero));
    return arith::SubIOp::create(e.b, e.loc, levels, arith::ConstantOp::create(e.b, e.loc, zero));
  }

  Emitter &e;
  const QuantUnpacker &blocks;
  Levels &to;
  const Value column;
  BlockReader reader;
};

// 16 rows times 16 columns of a block of k.
class Tile {
public:
  struct Place {
    Value row, feature, column;  // the first ones
  };

  Tile(const MatmulContext &c, const Levels &levels, Value products, const Place &at)
      : e(c.e), x(cast<TypedValue<MemRefType>>(c.x)), group(blocksOf(c).group), levels(levels), products(products),
        at(at) {}

  Emitter::Values accumulate(Value groups, ValueRange before) {
    int64_t ofBlock = elementFormat(x.getType()).jointValues() / group;
    return e.loop(e.index(0), groups, ofBlock, before, [&](Value first, ValueRange carried) {
      Emitter::Values none(carried.size(), e.splat(0));
      Emitter::Values parts = e.loop(first, e.add(first, ofBlock), 1, none, [&](Value number, ValueRange before) {
        multiply(number);
        return bringIn(number, before);
      });
      for (auto [r, part] : llvm::enumerate(parts))
        part = e.fma(part, ofRow(r, first, scaleField), carried[r]);
      return parts;
    });
  }

private:
  Value featureOf(Value number) { return e.add(at.feature, e.mul(number, group)); }

  void multiply(Value number) {
    auto tile = [&](int64_t rows, int64_t columns, Type element) {
      return amx::TileType::get({rows, columns}, element);
    };
    Type byte = e.b.getI8Type(), sumType = tile(side, side, e.b.getI32Type());
    const StorageFormat &format = elementFormat(x.getType());
    BlockAddress place = blockAddress(e, x, {at.row, featureOf(number)});
    Value distance = e.index(format.byteSize(x.getType().getDimSize(1))), zero = e.index(0);
    Value integers = amx::TileLoadOp::create(e.b, e.loc, tile(side, group, byte), place.bytes,
                                             place.byteIndices(e, format.fields[integersField], place.value), distance);
    Value weight = amx::TileLoadOp::create(e.b, e.loc, tile(group / word, word * side, byte), levels.bytes,
                                           ValueRange{number, zero, e.mul(at.column, word)});
    Value none = amx::TileZeroOp::create(e.b, e.loc, sumType);
    Value sums = amx::TileMulIOp::create(e.b, e.loc, sumType, integers, weight, none);
    amx::TileStoreOp::create(e.b, e.loc, products, ValueRange{zero, zero}, sums);
  }

  Emitter::Values bringIn(Value number, ValueRange carried) {
    auto integers = VectorType::get({side}, e.b.getI32Type());
    Value step = e.load(levels.steps, {number, at.column});
    Value offset = levels.offsets ? e.load(levels.offsets, {number, at.column}) : Value();
    Emitter::Values result;
    for (auto [r, part] : llvm::enumerate(carried)) {
      Value row = e.index(static_cast<int64_t>(r));
      Value exact = vector::LoadOp::create(e.b, e.loc, integers, products, ValueRange{row, e.index(0)});
      Value sum = e.fma(arith::SIToFPOp::create(e.b, e.loc, e.vectorType(), exact), step, part);
      result.push_back(offset ? e.fma(offset, ofRow(r, number, sumsField), sum) : sum);
    }
    return result;
  }

  Value ofRow(size_t row, Value number, int64_t field) {
    BlockReader reader(e, x, {e.add(at.row, static_cast<int64_t>(row)), featureOf(number)}, 1);
    return e.broadcast(vector::ExtractOp::create(e.b, e.loc, reader.number(field, e.b.getF32Type()), 0));
  }

  Emitter &e;
  const TypedValue<MemRefType> x;
  const int64_t group;
  const Levels &levels;
  const Value products;
  const Place at;
};

// Where the rows of a tile lie among those of a task; those before `kept` are others'.
struct TileRows {
  TileRows(Emitter &e, Value rows, Value tile) {
    Value rest = e.rem(rows, side), before = e.min(rest, e.index(1)), isRest = e.less(tile, before);
    first = e.select(isRest, e.sub(rows, e.index(side)), e.mul(e.sub(tile, before), side));
    kept = e.select(isRest, e.sub(e.index(side), rest), e.index(0));
  }
  Value first, kept;
};

// The rows of a task times a panel.
class PanelProducts {
public:
  PanelProducts(const MatmulContext &c, const AmxInt8::Stack &stack, Value first, Value rows, Value panel)
      : c(c), e(c.e), stack(stack), first(first), rows(rows), panel(panel) {}

  void emit() {
    Value feature = c.plan.groups > 1 ? e.mul(c.plan.groupOf(e, panel), c.plan.groupFeatures) : e.index(0);
    e.loop(e.index(0), e.index(c.plan.depth), blockDepth, [&](Value k) {
      Value count = e.min(e.index(blockSteps), e.div(e.sub(e.index(c.plan.depth), k), integerStep));
      Levels levels = layOut(k, count);
      Value groups = e.mul(count, integerStep / blocksOf(c).group);
      e.loop(e.index(0), e.ceilDiv(rows, side), 1, [&](Value tile) {
        TileRows places(e, rows, tile);
        e.loop(e.index(0), e.index(c.plan.panelLanes), side, [&](Value column) {
          Tile::Place at = {e.add(first, places.first), e.add(feature, k), column};
          store(Tile(c, levels, stack.products, at).accumulate(groups, before(k, places, column)), places, column);
        });
      });
    });
    c.finish(c, {stack.sums, first, panel}, rows, e.index(1), panel);
  }

private:
  Levels layOut(Value k, Value count) {
    Levels result = {stack.levels, stack.steps, stack.offsets};
    int64_t groups = integerStep / blocksOf(c).group;
    e.loop(e.index(0), count, 1, [&](Value step) {
      for (int64_t column = 0; column < c.plan.panelLanes; column += side)
        Columns(c, result, panel, e.add(k, e.mul(step, integerStep)), column).layOut(e.mul(step, groups));
    });
    return result;
  }

  // In front of the first k sums are zero, and not read.
  Emitter::Values before(Value k, const TileRows &places, Value column) {
    Value known = e.firstLanes(e.min(k, e.index(side)));
    Emitter::Values result;
    for (int64_t r = 0; r < side; ++r)
      result.push_back(e.load(stack.sums, {e.add(places.first, r), column}, known));
    return result;
  }

  void store(ValueRange sums, const TileRows &places, Value column) {
    Value nowhere = e.index(cast<MemRefType>(stack.sums.getType()).getDimSize(0) - 1);
    for (auto [r, sum] : llvm::enumerate(sums)) {
      Value row = e.index(static_cast<int64_t>(r));
      e.store(sum, stack.sums, {e.select(e.less(row, places.kept), nowhere, e.add(places.first, row)), column});
    }
  }

  const MatmulContext &c;
  Emitter &e;
  const AmxInt8::Stack &stack;
  const Value first, rows, panel;
};

}  // namespace

bool takesIntegers(const MatmulShape &shape, int64_t lanes) {
  return lanes == side && &selectMicrokernel(shape.x, shape.weight, lanes) == &int8Microkernel;
}

AmxInt8::AmxInt8(const MatmulContext &c) : c(c), mostRows(std::min<int64_t>(c.plan.blockRows, 192)) {
  Emitter &e = c.e;
  int64_t group = blocksOf(c).group, groups = blockDepth / group, lanes = c.plan.panelLanes;
  stack.sums = e.stackBuffer({mostRows + 1, lanes});  // the last row is for what is thrown away
  stack.levels = buffer(e, {groups, group / word, word * lanes}, e.b.getI8Type());
  stack.steps = e.stackBuffer({groups, lanes});
  stack.offsets = e.stackBuffer({groups, lanes});
  stack.products = buffer(e, {side, side}, e.b.getI32Type());
}

Value AmxInt8::take(Value rows) const {
  Emitter &e = c.e;
  return e.select(e.less(rows, e.index(side)), truth(e, false), e.less(rows, e.index(mostRows + 1)));
}

void AmxInt8::multiply(Value first, Value rows, Value begin, Value end) const {
  c.e.loop(begin, end, 1, [&](Value panel) { PanelProducts(c, stack, first, rows, panel).emit(); });
}

}  // namespace talc
