// SPDX-License-Identifier: Apache-2.0
// Access to panels of single values, and of quant blocks.
#include "compiler/passes/schedule/gpu/attention/KvAccess.h"

#include "compiler/passes/schedule/attention/KvLayout.h"
#include "compiler/passes/schedule/storage/LoadsAndStores.h"

using namespace mlir;

namespace talc {

namespace {

enum class Kind { keys, values };

class FloatKvPart final : public ThreadKvPart {
public:
  FloatKvPart(WorkgroupEmitter &e, Kind kind) : e(e), kind(kind) {}

  Value load(Value memory, const KvIndex &at, Value feature) override {
    return e.loadScalar(memory, index(at, feature));
  }
  int64_t storeWidth() const override { return 1; }
  void store(Value memory, const KvIndex &at, Value feature, int64_t count, ValueAt valueAt) override {
    if (count == 1)
      return e.storeScalar(valueAt(e.index(0)), memory, index(at, feature));
    e.loop(e.index(0), e.index(count), 1,
           [&](Value i) { e.storeScalar(valueAt(i), memory, index(at, e.add(feature, i))); });
  }

private:
  Emitter::Values index(const KvIndex &at, Value feature) {
    if (kind == Kind::keys)
      return {at.panel, at.head, feature, at.token};
    return {at.panel, at.head, at.token, feature};
  }

  WorkgroupEmitter &e;
  const Kind kind;
};

class QuantizedKvPart final : public ThreadKvPart {
public:
  QuantizedKvPart(WorkgroupEmitter &e, const kernel::KvLayout &layout, Kind kind)
      : e(e), heads(layout.heads), kind(kind), blocks(layout),
        format(kind == Kind::keys ? blocks.keys : blocks.values) {}

  Value load(Value memory, const KvIndex &at, Value feature) override {
    return dequantizeScalar(e, format, address(memory, at, feature));
  }
  int64_t storeWidth() const override { return format.blockValues; }
  void store(Value memory, const KvIndex &at, Value feature, int64_t count, ValueAt valueAt) override {
    for (int64_t first = 0; first < count; first += format.blockValues)
      storeQuantBlockByThread(e, format, address(memory, at, first > 0 ? e.add(feature, first) : feature),
                              [&](Value i) { return valueAt(first > 0 ? e.add(i, first) : i); });
  }

private:
  BlockAddress address(Value memory, const KvIndex &at, Value feature) {
    Value part = e.add(e.mul(at.panel, heads), at.head), bytes = e.bytes(memory);
    if (kind == Kind::keys)
      return blocks.keyAddress(e, bytes, {}, e.mul(part, blocks.keyBytes()), feature, at.token);
    return blocks.valueAddress(e, bytes, {}, e.mul(part, blocks.valueBytes()), at.token, feature);
  }

  WorkgroupEmitter &e;
  const int64_t heads;
  const Kind kind;
  const KvBlocks blocks;
  const StorageFormat &format;
};

std::unique_ptr<ThreadKvPart> makePart(WorkgroupEmitter &e, const kernel::KvLayout &layout, Kind kind) {
  if (isa<StoredType>(kind == Kind::keys ? layout.keys : layout.values))
    return std::make_unique<QuantizedKvPart>(e, layout, kind);
  return std::make_unique<FloatKvPart>(e, kind);
}

}  // namespace

ThreadKvAccess::ThreadKvAccess(WorkgroupEmitter &e, const kernel::KvLayout &layout)
    : e(e), layout(layout), keyPart(makePart(e, layout, Kind::keys)), valuePart(makePart(e, layout, Kind::values)) {}

Value ThreadKvAccess::keys(Value step, Value cache, Value slot) {
  return kernel::KeysOp::create(e.b, e.loc, layout.keysType(), step, cache, slot);
}

Value ThreadKvAccess::values(Value step, Value cache, Value slot) {
  return kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), step, cache, slot);
}

}  // namespace talc
