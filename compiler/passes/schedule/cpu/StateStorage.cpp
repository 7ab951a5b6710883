// SPDX-License-Identifier: Apache-2.0
// The panels of a state: of single numbers, and of blocks.
//
//   numbers   keys [panel, head, k, token]     values [panel, head, token, feature]
//   blocks    as StateBlocks says
#include "compiler/passes/schedule/cpu/StateStorage.h"

#include "compiler/passes/schedule/StateBlocks.h"
#include "compiler/passes/schedule/StoredBlocks.h"
#include "compiler/passes/schedule/StoredStores.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;

namespace talc {

static int64_t product(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

// Row-major but for the stride of panels.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> panel, int64_t first) {
  SmallVector<int64_t> strides = {first};
  for (size_t i = 1; i <= panel.size(); ++i)
    strides.push_back(product(panel.drop_front(i)));
  return strides;
}

KeyBlock StateStorage::memoryOf(Value step, Value state, Value slot) {
  return {kernel::KeysOp::create(e.b, e.loc, layout.keysType(), step, state, slot),
          kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), step, state, slot)};
}

Value StateStorage::viewOf(Value part, Value first, int64_t stride, int64_t panels, ArrayRef<int64_t> panel) {
  SmallVector<int64_t> shape = {panels}, strides = stridesOf(panel, stride);
  shape.append(panel.begin(), panel.end());
  auto layoutAttr = StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic, strides);
  auto type = MemRefType::get(shape, element(), layoutAttr);
  return memref::ReinterpretCastOp::create(e.b, e.loc, type, viewed(part), OpFoldResult(first),
                                           getAsIndexOpFoldResult(e.b.getContext(), shape),
                                           getAsIndexOpFoldResult(e.b.getContext(), strides));
}

KeyBlock StateStorage::panelsOf(const KeyBlock &memory, Value head, Value firstPanel, int64_t heads, int64_t panels) {
  Value first = e.add(e.mul(firstPanel, heads), head);
  auto view = [&](Value part, ArrayRef<int64_t> panel) {
    return viewOf(part, e.mul(first, product(panel)), heads * product(panel), panels, panel);
  };
  return {view(memory.keys, keyShape()), view(memory.values, valueShape())};
}

KeyBlock StateStorage::copies(int64_t panels) {
  auto buffer = [&](ArrayRef<int64_t> panel) {
    SmallVector<int64_t> shape = {panels};
    shape.append(panel.begin(), panel.end());
    return memref::AllocaOp::create(e.b, e.loc, MemRefType::get(shape, element()), e.b.getI64IntegerAttr(64));
  };
  return {buffer(keyShape()), buffer(valueShape())};
}

KeyBlock StateStorage::choose(Value condition, const KeyBlock &yes, const KeyBlock &no) {
  auto either = [&](Value a, Value b) {
    auto from = cast<MemRefType>(a.getType());
    auto strides = StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic,
                                          stridesOf(from.getShape().drop_front(), ShapedType::kDynamic));
    auto type = MemRefType::get(from.getShape(), from.getElementType(), strides);
    auto anyStride = [&](Value part) { return memref::CastOp::create(e.b, e.loc, type, part); };
    return e.select(condition, anyStride(a), anyStride(b));
  };
  return {either(yes.keys, no.keys), either(yes.values, no.values)};
}

namespace {

class NumberPanels : public StateStorage {
public:
  NumberPanels(Emitter &e, const kernel::StateLayout &layout) : StateStorage(e, layout) {}

  Value loadKeys(const KeyBlock &block, Value panel, Value feature, Value lane) override {
    return e.load(block.keys, {panel, feature, lane});
  }
  Value loadValues(const KeyBlock &block, Value panel, Value lane, Value column) override {
    return e.load(block.values, {panel, lane, column});
  }
  bool storesVectors() const override { return true; }
  void storeKey(const KeyBlock &memory, const TokenPlace &to, Value rows, Value row, Value first) override {
    e.loop(e.index(0), e.index(layout.width), 1, [&](Value column) {
      e.storeScalar(e.loadScalar(rows, {row, e.add(first, column)}), memory.keys, {to.panel, to.head, column, to.lane});
    });
  }
  void storeValue(const KeyBlock &memory, const TokenPlace &to, Value rows, Value row, Value first) override {
    e.columns(layout.width, [&](Value column, Value mask) {
      Value value = e.load(rows, {row, e.add(first, column)}, mask);
      e.store(value, memory.values, {to.panel, to.head, to.lane, column}, mask);
    });
  }
  void copyToken(const KeyBlock &memory, const TokenPlace &from, const KeyBlock &copies, Value to) override {
    e.loop(e.index(0), e.index(layout.width), 1, [&](Value k) {
      e.storeScalar(e.loadScalar(memory.keys, {from.panel, from.head, k, from.lane}), copies.keys, {to, k, from.lane});
    });
    e.loop(e.index(0), e.index(layout.paddedWidth), e.lanes, [&](Value column) {
      e.store(e.load(memory.values, {from.panel, from.head, from.lane, column}), copies.values,
              {to, from.lane, column});
    });
  }

private:
  SmallVector<int64_t> keyShape() const override { return {layout.width, layout.tokens}; }
  SmallVector<int64_t> valueShape() const override { return {layout.tokens, layout.paddedWidth}; }
  Type element() const override { return layout.element; }
  Value viewed(Value part) override { return part; }
};

// A head's part of a panel of keys is `lanes` lanes of blocks, one of values as many rows of blocks of one lane.
class BlockPanels : public StateStorage {
public:
  BlockPanels(Emitter &e, const kernel::StateLayout &layout) : StateStorage(e, layout) {}

  Value loadKeys(const KeyBlock &block, Value panel, Value feature, Value lane) override {
    return loadFrom(e, format, keyPlace(block.keys, {panel}, e.index(0), feature, lane));
  }
  Value loadValues(const KeyBlock &block, Value panel, Value lane, Value column) override {
    return loadFrom(e, format, valuePlace(block.values, {panel}, e.index(0), lane, column));
  }

  void copyToken(const KeyBlock &memory, const TokenPlace &from, const KeyBlock &copies, Value to) override {
    Value keys = e.bytes(memory.keys), values = e.bytes(memory.values);
    Value first = e.add(e.mul(from.panel, layout.heads), from.head);
    e.loop(e.index(0), e.index(layout.width), format.blockValues, [&](Value k) {
      BlockPlace own = keyPlace(keys, {}, e.mul(first, blocks.keyBytes()), k, from.lane);
      BlockPlace copy = keyPlace(copies.keys, {to}, e.index(0), k, from.lane);
      for (const BlockField &field : format.fields)
        e.loop(e.index(0), e.index(field.words), 1,
               [&](Value word) { copyBytes(own, copy, field, word, field.wordBytes); });
      own = valuePlace(values, {}, e.mul(first, blocks.valueBytes()), from.lane, k);
      copy = valuePlace(copies.values, {to}, e.index(0), from.lane, k);
      copyBytes(own, copy, {0, 1, format.blockBytes}, e.index(0), format.blockBytes);
    });
  }

  bool storesVectors() const override { return false; }
  void storeKey(const KeyBlock &memory, const TokenPlace &to, Value rows, Value row, Value first) override {
    Value bytes = e.bytes(memory.keys), begin = e.mul(e.add(e.mul(to.panel, layout.heads), to.head), blocks.keyBytes());
    eachBlock(rows, row, first, [&](Value k) { return keyPlace(bytes, {}, begin, k, to.lane); });
  }
  void storeValue(const KeyBlock &memory, const TokenPlace &to, Value rows, Value row, Value first) override {
    Value bytes = e.bytes(memory.values),
          begin = e.mul(e.add(e.mul(to.panel, layout.heads), to.head), blocks.valueBytes());
    eachBlock(rows, row, first, [&](Value k) { return valuePlace(bytes, {}, begin, to.lane, k); });
  }

private:
  SmallVector<int64_t> keyShape() const override { return {blocks.keyBytes()}; }
  SmallVector<int64_t> valueShape() const override { return {blocks.valueBytes()}; }
  Type element() const override { return e.b.getI8Type(); }
  Value viewed(Value part) override {
    return cast<MemRefType>(part.getType()).getElementType().isInteger(8) ? part : e.bytes(part);
  }

  // Stores a head of a row.
  void eachBlock(Value rows, Value row, Value first, llvm::function_ref<BlockPlace(Value)> placeOf) {
    e.loop(e.index(0), e.index(layout.width), format.blockValues, [&](Value k) {
      Emitter::Values block;
      for (int64_t i = 0; i < format.blockValues; i += e.lanes)
        block.push_back(e.load(rows, {row, e.add(e.add(first, k), i)}));
      storeBlock(e, format, placeOf(k), block);
    });
  }

  BlockPlace keyPlace(Value bytes, Emitter::Values outer, Value begin, Value feature, Value lane) {
    return blocks.keyPlace(e, bytes, std::move(outer), begin, feature, lane);
  }
  BlockPlace valuePlace(Value bytes, Emitter::Values outer, Value begin, Value lane, Value column) {
    return blocks.valuePlace(e, bytes, std::move(outer), begin, lane, column);
  }

  void copyBytes(const BlockPlace &from, const BlockPlace &to, const BlockField &field, Value word, int64_t count) {
    auto type = VectorType::get({count}, e.b.getI8Type());
    Value bytes = vector::LoadOp::create(e.b, e.loc, type, from.bytes, from.wordAt(e, field, word));
    vector::StoreOp::create(e.b, e.loc, bytes, to.bytes, to.wordAt(e, field, word));
  }

  const StateBlocks blocks = StateBlocks(layout);
  const StorageFormat &format = blocks.format;
};

}  // namespace

std::unique_ptr<StateStorage> StateStorage::create(Emitter &e, const kernel::StateLayout &layout) {
  if (isa<StoredType>(layout.element))
    return std::make_unique<BlockPanels>(e, layout);
  return std::make_unique<NumberPanels>(e, layout);
}

}  // namespace talc
