// SPDX-License-Identifier: Apache-2.0
// Panels of keys and values: of floats, and of quant blocks.
//
//   floats    keys [panel, head, k, token]     values [panel, head, token, feature]
//   blocks    as KvBlocks says
#include "compiler/passes/schedule/cpu/attention/KvAccess.h"

#include "compiler/passes/schedule/attention/KvLayout.h"
#include "compiler/passes/schedule/storage/LoadsAndStores.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;

namespace talc {

static int64_t product(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

// Row-major except for the stride of panels.
static SmallVector<int64_t> panelStrides(ArrayRef<int64_t> panel, int64_t first) {
  SmallVector<int64_t> strides = {first};
  for (size_t i = 1; i <= panel.size(); ++i)
    strides.push_back(product(panel.drop_front(i)));
  return strides;
}

static SmallVector<int64_t> panelsShape(int64_t panels, ArrayRef<int64_t> panel) {
  SmallVector<int64_t> shape = {panels};
  shape.append(panel.begin(), panel.end());
  return shape;
}

Value KvAccess::view(Value memory, Value first, int64_t heads, int64_t panels) {
  SmallVector<int64_t> panel = shape(), all = panelsShape(panels, panel),
                       strides = panelStrides(panel, heads * product(panel));
  Value begin = e.mul(first, product(panel));
  auto layoutAttr = StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic, strides);
  auto type = MemRefType::get(all, element(), layoutAttr);
  return memref::ReinterpretCastOp::create(e.b, e.loc, type, viewed(memory), OpFoldResult(begin),
                                           getAsIndexOpFoldResult(e.b.getContext(), all),
                                           getAsIndexOpFoldResult(e.b.getContext(), strides));
}

Value KvAccess::flat(Value memory) {
  Value all = viewed(memory);
  auto from = cast<MemRefType>(all.getType());
  auto type = MemRefType::get({ShapedType::kDynamic}, element());
  OpFoldResult begin = e.b.getIndexAttr(0), step = e.b.getIndexAttr(1);
  OpFoldResult size = getAsOpFoldResult(e.index(from.getNumElements()));
  return memref::ReinterpretCastOp::create(e.b, e.loc, type, all, begin, size, step);
}

int64_t KvAccess::panelElements() const {
  return product(shape());
}

Value KvAccess::copies(int64_t panels) {
  return memref::AllocaOp::create(e.b, e.loc, MemRefType::get(panelsShape(panels, shape()), element()),
                                  e.b.getI64IntegerAttr(64));
}

Value KvAccess::choose(Value condition, Value yes, Value no) {
  auto from = cast<MemRefType>(yes.getType());
  auto strides = StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic,
                                        panelStrides(from.getShape().drop_front(), ShapedType::kDynamic));
  auto type = MemRefType::get(from.getShape(), from.getElementType(), strides);
  auto anyStride = [&](Value part) { return memref::CastOp::create(e.b, e.loc, type, part); };
  return e.select(condition, anyStride(yes), anyStride(no));
}

namespace {

class FloatPanels : public KvAccess {
public:
  FloatPanels(Emitter &e, const kernel::KvLayout &layout, Type type) : KvAccess(e, layout), type(type) {}
  bool storesVectors() const override { return true; }
  // For bf16 LLVM would call a library function for each lane.
  bool storesLanes() const override { return !isa<BFloat16Type>(type); }

private:
  Type element() const override { return type; }
  Value viewed(Value memory) override { return memory; }

  Type type;
};

class FloatKeys final : public FloatPanels {
public:
  FloatKeys(Emitter &e, const kernel::KvLayout &layout) : FloatPanels(e, layout, layout.keys) {}

  Value load(Value part, Value panel, Value lane, Value feature) override {
    return e.load(part, {panel, feature, lane});
  }
  void store(Value memory, const TokenAddress &to, Value rows, Value row, Value first) override {
    e.loop(e.index(0), e.index(layout.width), 1, [&](Value column) {
      e.storeScalar(e.loadScalar(rows, {row, e.add(first, column)}), memory, {to.panel, to.head, column, to.lane});
    });
  }
  void copyToken(Value memory, const TokenAddress &from, Value copies, Value to) override {
    e.loop(e.index(0), e.index(layout.width), 1, [&](Value k) {
      e.storeScalar(e.loadScalar(memory, {from.panel, from.head, k, from.lane}), copies, {to, k, from.lane});
    });
  }

private:
  SmallVector<int64_t> shape() const override { return {layout.width, layout.tokens}; }
};

class FloatValues final : public FloatPanels {
public:
  FloatValues(Emitter &e, const kernel::KvLayout &layout) : FloatPanels(e, layout, layout.values) {}

  Value load(Value part, Value panel, Value lane, Value feature) override {
    return e.load(part, {panel, lane, feature});
  }
  void store(Value memory, const TokenAddress &to, Value rows, Value row, Value first) override {
    // After the last feature there is room for the rest of a vector.
    e.columns(layout.width, [&](Value column, Value mask) {
      Value value = e.load(rows, {row, e.add(first, column)}, mask);
      e.store(value, memory, {to.panel, to.head, to.lane, column});
    });
  }
  void copyToken(Value memory, const TokenAddress &from, Value copies, Value to) override {
    e.loop(e.index(0), e.index(layout.paddedWidth), e.lanes, [&](Value column) {
      e.store(e.load(memory, {from.panel, from.head, from.lane, column}), copies, {to, from.lane, column});
    });
  }

private:
  SmallVector<int64_t> shape() const override { return {layout.tokens, layout.paddedWidth}; }
};

class QuantizedPanels : public KvAccess {
public:
  Value load(Value part, Value panel, Value lane, Value feature) override {
    return dequantize(e, format, addressOf(part, {panel}, e.index(0), lane, feature));
  }
  bool storesVectors() const override { return false; }
  bool storesLanes() const override { return false; }
  void store(Value memory, const TokenAddress &to, Value rows, Value row, Value first) override {
    Value bytes = e.bytes(memory), begin = headBegin(to);
    e.loop(e.index(0), e.index(layout.width), format.blockValues, [&](Value k) {
      Emitter::Values block;
      for (int64_t i = 0; i < format.blockValues; i += e.lanes)
        block.push_back(e.load(rows, {row, e.add(e.add(first, k), i)}));
      storeQuantBlock(e, format, addressOf(bytes, {}, begin, to.lane, k), block);
    });
  }
  void copyToken(Value memory, const TokenAddress &from, Value copies, Value to) override {
    Value bytes = e.bytes(memory), begin = headBegin(from);
    e.loop(e.index(0), e.index(layout.width), format.blockValues, [&](Value k) {
      BlockAddress source = addressOf(bytes, {}, begin, from.lane, k);
      copyBlock(source, addressOf(copies, {to}, e.index(0), from.lane, k));
    });
  }

protected:
  QuantizedPanels(Emitter &e, const kernel::KvLayout &layout, const StorageFormat &format)
      : KvAccess(e, layout), format(format), blocks(layout) {}

  // The address of a token's feature, if the head's part of a panel begins at `begin`.
  virtual BlockAddress addressOf(Value bytes, Emitter::Values outer, Value begin, Value lane, Value feature) = 0;
  virtual void copyBlock(const BlockAddress &from, const BlockAddress &to) = 0;

  void copyBytes(const BlockAddress &from, const BlockAddress &to, const BlockField &field, Value word, int64_t count) {
    auto type = VectorType::get({count}, e.b.getI8Type());
    Value bytes = vector::LoadOp::create(e.b, e.loc, type, from.bytes, from.wordIndices(e, field, word));
    vector::StoreOp::create(e.b, e.loc, bytes, to.bytes, to.wordIndices(e, field, word));
  }

private:
  Type element() const override { return e.b.getI8Type(); }
  Value viewed(Value memory) override {
    return cast<MemRefType>(memory.getType()).getElementType().isInteger(8) ? memory : e.bytes(memory);
  }
  // The byte at which a head's part of a panel begins in the memory.
  Value headBegin(const TokenAddress &at) {
    return e.mul(e.add(e.mul(at.panel, layout.heads), at.head), shape().front());
  }

protected:
  const StorageFormat &format;
  const KvBlocks blocks;
};

// A head's part of a panel has as many lanes of blocks as the panel has tokens.
class QuantizedKeys final : public QuantizedPanels {
public:
  QuantizedKeys(Emitter &e, const kernel::KvLayout &layout)
      : QuantizedPanels(e, layout, *getStorageFormat(layout.keys)) {}

private:
  SmallVector<int64_t> shape() const override { return {blocks.keyBytes()}; }
  BlockAddress addressOf(Value bytes, Emitter::Values outer, Value begin, Value lane, Value feature) override {
    return blocks.keyAddress(e, bytes, std::move(outer), begin, feature, lane);
  }
  void copyBlock(const BlockAddress &from, const BlockAddress &to) override {
    for (const BlockField &field : format.fields)
      e.loop(e.index(0), e.index(field.words), 1,
             [&](Value word) { copyBytes(from, to, field, word, field.wordBytes); });
  }
};

// A head's part of a panel has as many rows of blocks of one lane as the panel has tokens.
class QuantizedValues final : public QuantizedPanels {
public:
  QuantizedValues(Emitter &e, const kernel::KvLayout &layout)
      : QuantizedPanels(e, layout, *getStorageFormat(layout.values)) {}

private:
  SmallVector<int64_t> shape() const override { return {blocks.valueBytes()}; }
  BlockAddress addressOf(Value bytes, Emitter::Values outer, Value begin, Value lane, Value feature) override {
    return blocks.valueAddress(e, bytes, std::move(outer), begin, lane, feature);
  }
  void copyBlock(const BlockAddress &from, const BlockAddress &to) override {
    copyBytes(from, to, {0, 1, format.blockBytes}, e.index(0), format.blockBytes);
  }
};

}  // namespace

std::unique_ptr<KvAccess> KvAccess::forKeys(Emitter &e, const kernel::KvLayout &layout) {
  if (isa<StoredType>(layout.keys))
    return std::make_unique<QuantizedKeys>(e, layout);
  return std::make_unique<FloatKeys>(e, layout);
}

std::unique_ptr<KvAccess> KvAccess::forValues(Emitter &e, const kernel::KvLayout &layout) {
  if (isa<StoredType>(layout.values))
    return std::make_unique<QuantizedValues>(e, layout);
  return std::make_unique<FloatValues>(e, layout);
}

KvBlock KvStorage::slotMemory(Value step, Value state, Value slot) {
  return {kernel::KeysOp::create(e.b, e.loc, layout.keysType(), step, state, slot),
          kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), step, state, slot)};
}

KvBlock KvStorage::viewPanels(const KvBlock &memory, Value head, Value firstPanel, int64_t heads, int64_t panels) {
  Value first = e.add(e.mul(firstPanel, heads), head);
  return {keys->view(memory.keys, first, heads, panels), values->view(memory.values, first, heads, panels)};
}

KvBlock KvStorage::copies(int64_t panels) {
  return {keys->copies(panels), values->copies(panels)};
}

KvBlock KvStorage::choose(Value condition, const KvBlock &yes, const KvBlock &no) {
  return {keys->choose(condition, yes.keys, no.keys), values->choose(condition, yes.values, no.values)};
}

void KvStorage::copyToken(const KvBlock &memory, const TokenAddress &from, const KvBlock &copies, Value to) {
  keys->copyToken(memory.keys, from, copies.keys, to);
  values->copyToken(memory.values, from, copies.values, to);
}

}  // namespace talc
