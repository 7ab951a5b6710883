// SPDX-License-Identifier: Apache-2.0
// Maps every op of the running step to a word of StepTables.
#include "compiler/passes/codegen/gpu/StepTables.h"

#include "compiler/passes/codegen/StepReader.h"
#include "runtime/device/gpu/LaunchTable.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cstddef>

using namespace mlir;
using talc::artifact::Span;
using talc::artifact::StepTables;
using talc::artifact::StepToken;

namespace talc {

static SmallVector<Value> readSpan(TableReader &r, kernel::SpanOp op) {
  SmallVector<Value> fields;
  for (int64_t offset :
       {offsetof(Span, firstToken), offsetof(Span, tokenCount), offsetof(Span, firstPosition), offsetof(Span, slot),
        offsetof(Span, prefix), offsetof(Span, sourceSlot), offsetof(Span, sourceLength), offsetof(Span, history)})
    fields.push_back(r.element(op.getStep(), offsetof(StepTables, spans), op.getAt(), sizeof(Span), offset));
  return fields;
}

SmallVector<Value> readTables(TableReader &r, Operation *op) {
  constexpr int64_t wordBytes = sizeof(int32_t);
  auto count = [&](auto o, int64_t field) -> SmallVector<Value> { return {r.count(o.getStep(), field)}; };
  auto element = [&](auto o, int64_t array, int64_t size, int64_t field) -> SmallVector<Value> {
    return {r.element(o.getStep(), array, o.getAt(), size, field)};
  };
  auto type = [](auto o) { return cast<MemRefType>(o.getResult().getType()); };
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([&](kernel::TokenCountOp o) { return count(o, offsetof(StepTables, tokenCount)); })
      .Case([&](kernel::SpanCountOp o) { return count(o, offsetof(StepTables, spanCount)); })
      .Case([&](kernel::OutputCountOp o) {
        return count(o, offsetof(StepTables, wantedCount) + wordBytes * static_cast<int64_t>(o.getOutput()));
      })
      .Case([&](kernel::IdOp o) { return element(o, offsetof(StepTables, tokenIds), wordBytes, 0); })
      .Case([&](kernel::HistoryOp o) { return element(o, offsetof(StepTables, history), wordBytes, 0); })
      .Case([&](kernel::SegmentOp o) {
        return element(o, offsetof(StepTables, spans), sizeof(Span), offsetof(Span, segment));
      })
      .Case([&](kernel::OutputTokenOp o) {
        int64_t array = offsetof(StepTables, wanted) + wordBytes * static_cast<int64_t>(o.getOutput());
        return element(o, array, wordBytes, 0);
      })
      .Case([&](kernel::PositionOp o) {
        return element(o, offsetof(StepTables, tokens), sizeof(StepToken), offsetof(StepToken, position));
      })
      .Case([&](kernel::SlotOp o) {
        return element(o, offsetof(StepTables, tokens), sizeof(StepToken), offsetof(StepToken, slot));
      })
      .Case([&](kernel::TokenTypeOp o) {
        return element(o, offsetof(StepTables, tokens), sizeof(StepToken), offsetof(StepToken, type));
      })
      .Case([&](kernel::SpanOp o) { return readSpan(r, o); })
      .Case(
          [&](kernel::KeysOp o) -> SmallVector<Value> { return {r.statePart(type(o), o.getCache(), o.getSlot(), 0)}; })
      .Case([&](kernel::MatricesOp o) -> SmallVector<Value> {
        return {r.statePart(type(o), o.getCache(), o.getSlot(), 0)};
      })
      .Case([&](kernel::ValuesOp o) -> SmallVector<Value> {
        kernel::KvLayout layout(cast<KvCacheType>(o.getCache().getType()));
        return {r.statePart(type(o), o.getCache(), o.getSlot(), layout.keyBytes())};
      })
      .Case([&](kernel::BytesOp o) -> SmallVector<Value> { return {r.byteBuffer(o)}; })
      .Default(SmallVector<Value>());
}

static LogicalResult checkPlan(ModuleOp module) {
  auto plan = module->getAttrOfType<DictionaryAttr>(planAttr);
  bool hasSlots = plan && plan.getAs<IntegerAttr>(slotBytesKey);
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (isa<kernel::KeysOp, kernel::ValuesOp, kernel::MatricesOp>(op) && !hasSlots)
      return op->emitOpError("has no place in memory; plan-memory gives it one");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult replaceStepOps(ModuleOp module, int64_t &count,
                             llvm::function_ref<SmallVector<Value>(Operation *)> replace) {
  if (failed(checkComputeOps(module)) || failed(checkPlan(module)))
    return failure();
  convertBlockBuffers(module);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<kernel::KernelDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    SmallVector<Value> values = replace(op);
    if (values.empty())
      return op->emitOpError("has no meaning in a workgroup");
    op->replaceAllUsesWith(values);
    op->erase();
  }
  count = static_cast<int64_t>(ops.size());
  return success();
}

}  // namespace talc
