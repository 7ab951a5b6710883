// SPDX-License-Identifier: Apache-2.0
// Many rows of quantized activations times a weight's quant blocks, by the tile instructions of AMX.
//
//   for each panel of the task
//     for each block of k, of up to 8 quant blocks of 32
//       codes as bytes with a sign, scales and offsets as f32, on the stack
//       for each 16 rows, for each 16 columns                         their accumulators are 16 vectors
//         for each group that shares a scale (a quant block, or half of one)
//           C = A (16 rows x 32 bytes) * B (8 words x 16 columns)     one product, of exact sums
//           C goes to memory; for each row: partial = partial + C * scale + offset * sum
//         accumulator = accumulator + partial * scale of the row, where the row's block ends
//     epilogue of the sums, store
//
// Sums of integers are exact and join the same chain as those of Int8Microkernel.cpp, so that the bits are the same,
// and few rows are left to that. The floor of a group of 32, 16 rows and 16 columns: 16 cycles for the product, half of
// whose depth stays empty, 16 for the store, and 32 instructions that join the sums, two a cycle: 16 cycles, side by
// side. vpdpbusd takes 64, and the same 16 one after the other. Rows with a scale for every 32 take 16 more.
//
// A last tile of fewer than 16 rows begins further up: it goes first, and what it computes for rows of other tiles is
// thrown away.
#include "compiler/passes/schedule/cpu/matmul/Amx.h"

#include "compiler/passes/schedule/cpu/matmul/QuantUnpack.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t side = 16, wordCodes = 4;
// The codes of a panel of 64 columns are 16 KiB.
constexpr int64_t blockSteps = 8, blockK = blockSteps * activationGroup;
// Fields of quantized activations.
enum : int64_t { scaleField, sumsField, codesField = 3 };

// A block of k of a panel on the stack; offsets are null if the format has none.
struct UnpackedBlock {
  Value codes, scales, offsets;
};

const QuantUnpacker &getUnpacker(const MatmulContext &c) {
  return *findQuantUnpacker(c.plan.shape.weightFormat->name);
}

Value allocate(Emitter &e, ArrayRef<int64_t> shape, Type element) {
  return memref::AllocaOp::create(e.b, e.loc, MemRefType::get(shape, element), e.b.getI64IntegerAttr(64));
}

// Unpacks some columns of 32 k.
class ColumnUnpacker {
public:
  ColumnUnpacker(const MatmulContext &c, UnpackedBlock &to, Value panel, Value k, int64_t column)
      : e(c.e), unpacker(getUnpacker(c)), to(to), column(e.index(column)),
        reader(e, c.weight, {panel, k, this->column}, side) {}

  // Its groups are stored from index `first` on.
  void unpack(Value first) {
    for (int64_t group = 0; group < activationGroup / unpacker.groupValues; ++group)
      unpack(e.add(first, group), group);
  }

private:
  void unpack(Value index, int64_t group) {
    int64_t words = unpacker.groupValues / wordCodes;
    for (int64_t i = 0; i < words; ++i)
      vector::StoreOp::create(e.b, e.loc, signedCodes(group * words + i), to.codes,
                              ValueRange{index, e.index(i), e.mul(column, wordCodes)});
    GroupScales scales = unpacker.scales(reader, group);
    e.store(scales.scale, to.scales, {index, column});
    if (scales.offset)
      e.store(scales.offset, to.offsets, {index, column});
    else
      to.offsets = {};
  }

  // Codes minus their zero point.
  Value signedCodes(int64_t word) {
    auto bytes = VectorType::get({wordCodes * side}, e.b.getI8Type());
    Value codes = vector::BitCastOp::create(e.b, e.loc, bytes, unpacker.codes(reader, word, /*rows=*/0));
    if (unpacker.zeroPoint == 0)
      return codes;
    auto zeroPoint = DenseIntElementsAttr::get(bytes, static_cast<int8_t>(unpacker.zeroPoint));
    return arith::SubIOp::create(e.b, e.loc, codes, arith::ConstantOp::create(e.b, e.loc, zeroPoint));
  }

  Emitter &e;
  const QuantUnpacker &unpacker;
  UnpackedBlock &to;
  const Value column;
  BlockReader reader;
};

// 16 rows times 16 columns of a block of k.
class AmxTile {
public:
  struct Origin {
    Value row, feature, column;
  };

  AmxTile(const MatmulContext &c, const UnpackedBlock &block, Value products, const Origin &origin)
      : e(c.e), x(cast<TypedValue<MemRefType>>(c.x)), groupValues(getUnpacker(c).groupValues), block(block),
        products(products), origin(origin) {}

  Emitter::Values accumulate(Value groups, ValueRange sums) {
    int64_t groupsPerBlock = elementFormat(x.getType()).jointValues() / groupValues;
    return e.loop(e.index(0), groups, groupsPerBlock, sums, [&](Value first, ValueRange carried) {
      Emitter::Values zeros(carried.size(), e.splat(0));
      Emitter::Values partials =
          e.loop(first, e.add(first, groupsPerBlock), 1, zeros, [&](Value group, ValueRange before) {
            multiply(group);
            return addGroup(group, before);
          });
      for (auto [r, partial] : llvm::enumerate(partials))
        partial = e.fma(partial, loadOfRow(r, first, scaleField), carried[r]);
      return partials;
    });
  }

private:
  Value groupFeature(Value group) { return e.add(origin.feature, e.mul(group, groupValues)); }

  void multiply(Value group) {
    auto tile = [&](int64_t rows, int64_t columns, Type element) {
      return amx::TileType::get({rows, columns}, element);
    };
    Type byte = e.b.getI8Type(), sumType = tile(side, side, e.b.getI32Type());
    const StorageFormat &format = elementFormat(x.getType());
    BlockAddress address = blockAddress(e, x, {origin.row, groupFeature(group)});
    Value stride = e.index(format.byteSize(x.getType().getDimSize(1))), zero = e.index(0);
    Value activations =
        amx::TileLoadOp::create(e.b, e.loc, tile(side, groupValues, byte), address.bytes,
                                address.byteIndices(e, format.fields[codesField], address.value), stride);
    Value weight = amx::TileLoadOp::create(e.b, e.loc, tile(groupValues / wordCodes, wordCodes * side, byte),
                                           block.codes, ValueRange{group, zero, e.mul(origin.column, wordCodes)});
    Value zeros = amx::TileZeroOp::create(e.b, e.loc, sumType);
    Value sums = amx::TileMulIOp::create(e.b, e.loc, sumType, activations, weight, zeros);
    amx::TileStoreOp::create(e.b, e.loc, products, ValueRange{zero, zero}, sums);
  }

  Emitter::Values addGroup(Value group, ValueRange carried) {
    auto integers = VectorType::get({side}, e.b.getI32Type());
    Value scale = e.load(block.scales, {group, origin.column});
    Value offset = block.offsets ? e.load(block.offsets, {group, origin.column}) : Value();
    Emitter::Values result;
    for (auto [r, partial] : llvm::enumerate(carried)) {
      Value row = e.index(static_cast<int64_t>(r));
      Value exact = vector::LoadOp::create(e.b, e.loc, integers, products, ValueRange{row, e.index(0)});
      Value sum = e.fma(arith::SIToFPOp::create(e.b, e.loc, e.vectorType(), exact), scale, partial);
      result.push_back(offset ? e.fma(offset, loadOfRow(r, group, sumsField), sum) : sum);
    }
    return result;
  }

  Value loadOfRow(size_t row, Value group, int64_t field) {
    BlockReader reader(e, x, {e.add(origin.row, static_cast<int64_t>(row)), groupFeature(group)}, 1);
    return e.broadcast(vector::ExtractOp::create(e.b, e.loc, reader.number(field, e.b.getF32Type()), 0));
  }

  Emitter &e;
  const TypedValue<MemRefType> x;
  const int64_t groupValues;
  const UnpackedBlock &block;
  const Value products;
  const Origin origin;
};

// The rows of a tile among those of a task; those before `firstKept` belong to another tile.
struct AmxTileRows {
  AmxTileRows(Emitter &e, Value rows, Value tile) {
    Value rest = e.rem(rows, side), before = e.min(rest, e.index(1)), isRest = e.less(tile, before);
    first = e.select(isRest, e.sub(rows, e.index(side)), e.mul(e.sub(tile, before), side));
    firstKept = e.select(isRest, e.sub(e.index(side), rest), e.index(0));
  }
  Value first, firstKept;
};

// The rows of a task times a panel.
class PanelProduct {
public:
  PanelProduct(const MatmulContext &c, const AmxInt8::Stack &stack, Value first, Value rows, Value panel)
      : c(c), e(c.e), stack(stack), first(first), rows(rows), panel(panel) {}

  void emit() {
    const MatmulShape &shape = c.plan.shape;
    Value feature = shape.groups > 1 ? e.mul(shape.groupIndex(e, panel), shape.groupFeatures) : e.index(0);
    e.loop(e.index(0), e.index(shape.k), blockK, [&](Value k) {
      Value count = e.min(e.index(blockSteps), e.div(e.sub(e.index(shape.k), k), activationGroup));
      UnpackedBlock block = unpack(k, count);
      Value groups = e.mul(count, activationGroup / getUnpacker(c).groupValues);
      e.loop(e.index(0), e.ceilDiv(rows, side), 1, [&](Value tile) {
        AmxTileRows tileRows(e, rows, tile);
        e.loop(e.index(0), e.index(shape.panelLanes), side, [&](Value column) {
          AmxTile::Origin origin = {e.add(first, tileRows.first), e.add(feature, k), column};
          store(AmxTile(c, block, stack.products, origin).accumulate(groups, loadSums(k, tileRows, column)), tileRows,
                column);
        });
      });
    });
    c.finish(c, {stack.sums, first, panel}, rows, e.index(1), panel);
  }

private:
  UnpackedBlock unpack(Value k, Value count) {
    UnpackedBlock block = {stack.codes, stack.scales, stack.offsets};
    int64_t groups = activationGroup / getUnpacker(c).groupValues;
    e.loop(e.index(0), count, 1, [&](Value step) {
      for (int64_t column = 0; column < c.plan.shape.panelLanes; column += side)
        ColumnUnpacker(c, block, panel, e.add(k, e.mul(step, activationGroup)), column).unpack(e.mul(step, groups));
    });
    return block;
  }

  // Before the first k sums are zero, and not read.
  Emitter::Values loadSums(Value k, const AmxTileRows &tileRows, Value column) {
    Value lanes = e.firstLanes(e.min(k, e.index(side)));
    Emitter::Values result;
    for (int64_t r = 0; r < side; ++r)
      result.push_back(e.load(stack.sums, {e.add(tileRows.first, r), column}, lanes));
    return result;
  }

  void store(ValueRange sums, const AmxTileRows &tileRows, Value column) {
    Value discarded = e.index(cast<MemRefType>(stack.sums.getType()).getDimSize(0) - 1);
    for (auto [r, sum] : llvm::enumerate(sums)) {
      Value row = e.index(static_cast<int64_t>(r));
      e.store(sum, stack.sums,
              {e.select(e.less(row, tileRows.firstKept), discarded, e.add(tileRows.first, row)), column});
    }
  }

  const MatmulContext &c;
  Emitter &e;
  const AmxInt8::Stack &stack;
  const Value first, rows, panel;
};

}  // namespace

bool canUseAmxInt8(const MatmulShape &shape, const IsaTraits &traits) {
  return traits.tileRegisters && Microkernel::select(shape.x, shape.weight, traits)->kind == Microkernel::Kind::Int8;
}

AmxInt8::AmxInt8(const MatmulContext &c) : c(c), maxRows(std::min<int64_t>(c.plan.tunables.blockRows, 192)) {
  Emitter &e = c.e;
  int64_t groupValues = getUnpacker(c).groupValues, groups = blockK / groupValues, lanes = c.plan.shape.panelLanes;
  stack.sums = e.stackBuffer({maxRows + 1, lanes});  // the last row takes what is thrown away
  stack.codes = allocate(e, {groups, groupValues / wordCodes, wordCodes * lanes}, e.b.getI8Type());
  stack.scales = e.stackBuffer({groups, lanes});
  stack.offsets = e.stackBuffer({groups, lanes});
  stack.products = allocate(e, {side, side}, e.b.getI32Type());
}

Value AmxInt8::takesRows(Value rows) const {
  Emitter &e = c.e;
  return e.select(e.less(rows, e.index(side)), constantBool(e, false), e.less(rows, e.index(maxRows + 1)));
}

void AmxInt8::multiply(Value first, Value rows, Value begin, Value end) const {
  c.e.loop(begin, end, 1, [&](Value panel) { PanelProduct(c, stack, first, rows, panel).emit(); });
}

}  // namespace talc
