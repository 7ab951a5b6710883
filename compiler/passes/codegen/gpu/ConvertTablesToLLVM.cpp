// SPDX-License-Identifier: Apache-2.0
// convert-tables-to-llvm: what kernels for cards read of the running step becomes loads from StepTables.
//
//   %id = kernel.id %step[%t]          ->   %place = load step[ids];  %id = load step[%place + %t]      words of 32
//   bits %k = kernel.keys %step, %s[%slot]  ->   a memref around  %s + %slot * bytes per slot
//
// The layout read here is that of runtime/device/gpu/LaunchTable.h.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/StepReader.h"
#include "runtime/device/gpu/LaunchTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstddef>

namespace talc {
#define GEN_PASS_DEF_CONVERTTABLESTOLLVM
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::artifact::Row;
using talc::artifact::Span;
using talc::artifact::StepTables;
namespace kernel = talc::kernel;

namespace {

class TableReader : public talc::StepReader {
public:
  using StepReader::StepReader;

  // The word at byte `field` of the tables.
  Value word(Value step, int64_t field) { return integerAt(cast(step, pointer()), constant(field)); }
  Value count(Value step, int64_t field) { return toIndex(word(step, field)); }

  // The word at byte `field` of element `at`, of `size` bytes, of the array whose place is the word at `array`.
  Value element(Value step, int64_t array, Value at, int64_t size, int64_t field) {
    Value begin = mul(word(step, array), constant(sizeof(int32_t)));
    Value offset = add(begin, add(mul(toI64(at), constant(size)), constant(field)));
    return toIndex(integerAt(cast(step, pointer()), offset));
  }

  // `offset`: of the part in the state.
  Value statePart(MemRefType type, Value state, Value slot, int64_t offset) {
    Value place = add(mul(toI64(slot), constant(slotBytes())), constant(offset));
    return buffer(type, bytesFrom(cast(state, pointer()), place));
  }
};

SmallVector<Value> convertSpan(TableReader &r, kernel::SpanOp op) {
  SmallVector<Value> fields;
  for (int64_t offset :
       {offsetof(Span, firstRow), offsetof(Span, rowCount), offsetof(Span, firstPosition), offsetof(Span, slot),
        offsetof(Span, prefix), offsetof(Span, sourceSlot), offsetof(Span, sourceLength), offsetof(Span, history)})
    fields.push_back(r.element(op.getStep(), offsetof(StepTables, spans), op.getAt(), sizeof(Span), offset));
  return fields;
}

// The values that stand for the results of a step op; none: kernels have no such op.
SmallVector<Value> convert(TableReader &r, Operation *op) {
  constexpr int64_t wordBytes = sizeof(int32_t);
  auto count = [&](auto o, int64_t field) -> SmallVector<Value> { return {r.count(o.getStep(), field)}; };
  auto element = [&](auto o, int64_t array, int64_t size, int64_t field) -> SmallVector<Value> {
    return {r.element(o.getStep(), array, o.getAt(), size, field)};
  };
  auto type = [](auto o) { return cast<MemRefType>(o.getResult().getType()); };
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([&](kernel::RowCountOp o) { return count(o, offsetof(StepTables, rowCount)); })
      .Case([&](kernel::SpanCountOp o) { return count(o, offsetof(StepTables, spanCount)); })
      .Case([&](kernel::OutputCountOp o) {
        return count(o, offsetof(StepTables, wantedCount) + wordBytes * static_cast<int64_t>(o.getOutput()));
      })
      .Case([&](kernel::IdOp o) { return element(o, offsetof(StepTables, ids), wordBytes, 0); })
      .Case([&](kernel::HistoryOp o) { return element(o, offsetof(StepTables, history), wordBytes, 0); })
      .Case([&](kernel::SegmentOp o) {
        return element(o, offsetof(StepTables, spans), sizeof(Span), offsetof(Span, segment));
      })
      .Case([&](kernel::OutputRowOp o) {
        int64_t array = offsetof(StepTables, wanted) + wordBytes * static_cast<int64_t>(o.getOutput());
        return element(o, array, wordBytes, 0);
      })
      .Case([&](kernel::PositionOp o) {
        return element(o, offsetof(StepTables, rows), sizeof(Row), offsetof(Row, position));
      })
      .Case([&](kernel::SlotOp o) { return element(o, offsetof(StepTables, rows), sizeof(Row), offsetof(Row, slot)); })
      .Case([&](kernel::TokenTypeOp o) {
        return element(o, offsetof(StepTables, rows), sizeof(Row), offsetof(Row, type));
      })
      .Case([&](kernel::SpanOp o) { return convertSpan(r, o); })
      .Case(
          [&](kernel::KeysOp o) -> SmallVector<Value> { return {r.statePart(type(o), o.getState(), o.getSlot(), 0)}; })
      .Case([&](kernel::MatricesOp o) -> SmallVector<Value> {
        return {r.statePart(type(o), o.getState(), o.getSlot(), 0)};
      })
      .Case([&](kernel::ValuesOp o) -> SmallVector<Value> {
        kernel::StateLayout layout(cast<talc::StateType>(o.getState().getType()));
        return {r.statePart(type(o), o.getState(), o.getSlot(), layout.keyBytes())};
      })
      .Case([&](kernel::BytesOp o) -> SmallVector<Value> { return {r.bytesOf(o)}; })
      .Default(SmallVector<Value>());
}

struct ConvertTablesToLLVM : talc::impl::ConvertTablesToLLVMBase<ConvertTablesToLLVM> {
  // Types go last: while ops are converted, a state's type still tells its layout.
  void runOnOperation() override {
    if (failed(talc::checkPieces(getOperation())) || failed(checkPlan()))
      return signalPassFailure();
    talc::convertBlocks(getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<kernel::KernelDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      TableReader reader(op, getOperation());
      SmallVector<Value> values = convert(reader, op);
      if (values.empty()) {
        op->emitOpError("has no meaning in a workgroup");
        return signalPassFailure();
      }
      op->replaceAllUsesWith(values);
      op->erase();
    }
    talc::PassRemarks("codegen", "convert-tables-to-llvm").did(getOperation(), [&] {
      return llvm::formatv("{0} reads of the running step become loads from its tables", ops.size());
    });
    convertSignatures();
  }

  LogicalResult checkPlan() {
    auto plan = getOperation()->getAttrOfType<DictionaryAttr>(talc::planAttr);
    bool hasSlots = plan && plan.getAs<IntegerAttr>(talc::slotBytesKey);
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isa<kernel::KeysOp, kernel::ValuesOp, kernel::MatricesOp>(op) && !hasSlots)
        return op->emitOpError("has no place in memory; plan-memory gives it one");
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  // Steps and states in signatures become addresses.
  void convertSignatures() {
    auto convertType = [&](Type type) -> Type {
      return isa<kernel::StepType, talc::StateType>(type) ? LLVM::LLVMPointerType::get(&getContext()) : type;
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Type> types = llvm::map_to_vector(function.getArgumentTypes(), convertType);
      if (!function.isExternal())
        for (auto [argument, type] : llvm::zip(function.getArguments(), types))
          argument.setType(type);
      function.setType(FunctionType::get(&getContext(), types, function.getResultTypes()));
    }
  }
};

}  // namespace
