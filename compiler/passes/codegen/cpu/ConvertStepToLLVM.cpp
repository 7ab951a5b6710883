// SPDX-License-Identifier: Apache-2.0
// convert-step-to-llvm: converts reads of the running step to loads from struct StepContext.
//
//   %t = kernel.worker %step        ->   %p = getelementptr %step[0];  %t = load i64 %p
//   %w = kernel.weight %step @qkv   ->   a memref around  load(%step.weights) + offset of @qkv
//
// The layout is that of runtime/device/cpu/StepContext.h, which is checked below.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/StepReader.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/gradients/GradientOps.h"
#include "runtime/device/cpu/StepContext.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstddef>

namespace talc {
#define GEN_PASS_DEF_CONVERTSTEPTOLLVM
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::artifact::Output;
using talc::artifact::Span;
using talc::artifact::StepContext;
using talc::artifact::StepToken;
namespace kernel = talc::kernel;

static_assert(sizeof(Span) == 36 && sizeof(StepToken) == 12 && sizeof(Output) == 24 && sizeof(StepContext) == 46 * 8);

namespace {

// Reads fields of the context.
class ContextReader : public talc::StepReader {
public:
  using StepReader::StepReader;

  Value step(Value value) { return cast(value, pointer()); }

  // The i64 or pointer field at byte `offset` of the context.
  Value field(Value context, int64_t offset, Type type) {
    return LLVM::LoadOp::create(b, loc, type, bytesFrom(step(context), constant(offset)));
  }
  Value count(Value context, int64_t offset) { return toIndex(field(context, offset, b.getI64Type())); }

  // The i32 at byte `field` of element `at` of the array to which the pointer at `array` of the context points.
  Value element(Value context, int64_t array, Value at, int64_t size, int64_t field) {
    Value base = this->field(context, array, pointer());
    return toIndex(integerAt(base, add(mul(toI64(at), constant(size)), constant(field))));
  }

  // A KV cache of a slot begins at kvCache + slot * bytes per slot + the offset of the cache.
  Value kvAddress(Value context, Value cache, Value slot, int64_t partOffset) {
    Value offset = add(add(mul(toI64(slot), constant(slotBytes())), cast(cache, b.getI64Type())), constant(partOffset));
    return bytesFrom(field(context, offsetof(StepContext, kvCache), pointer()), offset);
  }
};

SmallVector<Value> convertSpan(ContextReader &r, kernel::SpanOp op) {
  SmallVector<Value> fields;
  for (int64_t offset :
       {offsetof(Span, firstToken), offsetof(Span, tokenCount), offsetof(Span, firstPosition), offsetof(Span, slot),
        offsetof(Span, prefix), offsetof(Span, sourceSlot), offsetof(Span, sourceLength), offsetof(Span, history)})
    fields.push_back(r.element(op.getStep(), offsetof(StepContext, spans), op.getAt(), sizeof(Span), offset));
  return fields;
}

// The offset of a field of the result `output` in the context.
int64_t outputField(int64_t output, int64_t field) {
  using talc::artifact::maxResults;
  int64_t more = output - maxResults;
  return (more < 0 ? offsetof(StepContext, outputs) + output * sizeof(Output)
                   : offsetof(StepContext, moreOutputs) + more * sizeof(Output)) +
         field;
}

Value convertArena(ContextReader &r, kernel::ArenaOp op) {
  Value rows = r.field(op.getStep(), offsetof(StepContext, tokenCount), r.b.getI64Type());
  Value worker = r.field(op.getStep(), offsetof(StepContext, worker), r.b.getI64Type());
  Value offset = r.add(r.mul(rows, r.constant(op.getPerToken())), r.constant(op.getFixed()));
  offset = r.add(offset, r.mul(worker, r.constant(op.getPerWorker())));
  Value base = r.field(op.getStep(), offsetof(StepContext, arena), r.pointer());
  return r.buffer(cast<MemRefType>(op.getType()), r.bytesFrom(base, offset),
                  op.getRows() ? r.toI64(op.getRows()) : Value());
}

// Tables lie behind the stored weights in the plan, and in memory of their own.
Value weightAddress(ContextReader &r, kernel::WeightOp op) {
  int64_t offset = r.getOffset(op.getNameAttr()), stored = r.storedWeightBytes();
  bool isTable = offset >= stored;
  Value base =
      r.field(op.getStep(), isTable ? offsetof(StepContext, tables) : offsetof(StepContext, weights), r.pointer());
  return r.bytesFrom(base, r.constant(isTable ? offset - stored : offset));
}

Value convertTraining(ContextReader &r, kernel::GradientOp op) {
  Value base = r.field(op.getStep(), offsetof(StepContext, gradients), r.pointer());
  Value address = r.bytesFrom(base, r.constant(static_cast<int64_t>(*op.getOffset())));
  return r.buffer(op.getResult().getType(), address);
}

Value convertTraining(ContextReader &r, kernel::LossScaleOp op) {
  Value place = r.field(op.getStep(), offsetof(StepContext, lossScale), r.pointer());
  return LLVM::LoadOp::create(r.b, r.loc, r.b.getF32Type(), place);
}

// A step is divided by tokens if every worker gets at least this many. All workers then read all weights, which pays
// only with enough tokens; divided by columns, a worker reads its part of the weights, and activations that others
// wrote.
constexpr int64_t manyRows = 48;

Value convertTokenParallel(ContextReader &r, Value step) {
  Value rows = r.field(step, offsetof(StepContext, tokenCount), r.b.getI64Type());
  Value workers = r.field(step, offsetof(StepContext, workers), r.b.getI64Type());
  return LLVM::ICmpOp::create(r.b, r.loc, LLVM::ICmpPredicate::sge, rows, r.mul(workers, r.constant(manyRows)));
}

Value convertBeginTasks(ContextReader &r, kernel::BeginTasksOp op) {
  Value place = r.bytesFrom(r.step(op.getStep()), r.constant(offsetof(StepContext, dynamicOps)));
  Value schedule = LLVM::LoadOp::create(r.b, r.loc, r.b.getI64Type(), place);
  LLVM::StoreOp::create(r.b, r.loc, r.add(schedule, r.constant(1)), place);
  return r.toIndex(schedule);
}

Value convertNextTask(ContextReader &r, kernel::NextTaskOp op) {
  Value function = r.field(op.getStep(), offsetof(StepContext, nextTask), r.pointer());
  Value state = r.field(op.getStep(), offsetof(StepContext, schedulerState), r.pointer());
  Type i64 = r.b.getI64Type();
  Value worker = r.field(op.getStep(), offsetof(StepContext, worker), i64);
  auto type = LLVM::LLVMFunctionType::get(i64, {r.pointer(), i64, i64, i64});
  SmallVector<Value> arguments = {function, state, worker, r.toI64(op.getSchedule()), r.toI64(op.getTasks())};
  return r.toIndex(LLVM::CallOp::create(r.b, r.loc, type, arguments).getResult());
}

void callBarrier(ContextReader &r, Value step) {
  Value function = r.field(step, offsetof(StepContext, barrier), r.pointer());
  Value state = r.field(step, offsetof(StepContext, barrierState), r.pointer());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(r.b.getContext()), {r.pointer()});
  LLVM::CallOp::create(r.b, r.loc, type, ValueRange{function, state});
}

void convertBarrier(ContextReader &r, kernel::BarrierOp op) {
  if (!op.getUnlessTokenParallel())
    return callBarrier(r, op.getStep());
  Value tokenParallel = convertTokenParallel(r, op.getStep());
  auto branch = scf::IfOp::create(r.b, r.loc, tokenParallel, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(r.b);
  r.b.setInsertionPointToStart(branch.elseBlock());
  callBarrier(r, op.getStep());
}

// If the step is not measured, this costs a load and a branch that is not taken.
void convertMark(ContextReader &r, kernel::MarkOp op) {
  Value function = r.field(op.getStep(), offsetof(StepContext, mark), r.pointer());
  Value null = LLVM::ZeroOp::create(r.b, r.loc, r.pointer());
  Value isMeasured = LLVM::ICmpOp::create(r.b, r.loc, LLVM::ICmpPredicate::ne, function, null);
  auto branch = scf::IfOp::create(r.b, r.loc, isMeasured, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(r.b);
  r.b.setInsertionPointToStart(branch.thenBlock());
  Value state = r.field(op.getStep(), offsetof(StepContext, markState), r.pointer());
  Value worker = r.field(op.getStep(), offsetof(StepContext, worker), r.b.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(r.b.getContext()),
                                          {r.pointer(), r.b.getI64Type(), r.b.getI64Type()});
  LLVM::CallOp::create(r.b, r.loc, type, ValueRange{function, state, worker, r.constant(op.getKernel())});
}

// The values that replace the results of a step op.
SmallVector<Value> convert(ContextReader &r, Operation *op) {
  auto count = [&](auto o, int64_t at) -> SmallVector<Value> { return {r.count(o.getStep(), at)}; };
  auto element = [&](auto o, int64_t array, int64_t size, int64_t at) -> SmallVector<Value> {
    return {r.element(o.getStep(), array, o.getAt(), size, at)};
  };
  auto tokenField = [&](auto o, int64_t at) {
    return element(o, offsetof(StepContext, tokens), sizeof(StepToken), at);
  };
  auto type = [](auto o) { return cast<MemRefType>(o.getResult().getType()); };
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([&](kernel::WorkerOp o) { return count(o, offsetof(StepContext, worker)); })
      .Case([&](kernel::WorkersOp o) { return count(o, offsetof(StepContext, workers)); })
      .Case([&](kernel::TokenCountOp o) { return count(o, offsetof(StepContext, tokenCount)); })
      .Case([&](kernel::SpanCountOp o) { return count(o, offsetof(StepContext, spanCount)); })
      .Case([&](kernel::OutputCountOp o) { return count(o, outputField(o.getOutput(), offsetof(Output, count))); })
      .Case([&](kernel::IdOp o) { return element(o, offsetof(StepContext, inputs.tokenIds), 4, 0); })
      .Case([&](kernel::HistoryOp o) { return element(o, offsetof(StepContext, history), 4, 0); })
      .Case([&](kernel::SegmentOp o) {
        return element(o, offsetof(StepContext, spans), sizeof(Span), offsetof(Span, segment));
      })
      .Case([&](kernel::OutputTokenOp o) {
        return element(o, outputField(o.getOutput(), offsetof(Output, tokens)), 4, 0);
      })
      .Case([&](kernel::PositionOp o) { return tokenField(o, offsetof(StepToken, position)); })
      .Case([&](kernel::SlotOp o) { return tokenField(o, offsetof(StepToken, slot)); })
      .Case([&](kernel::TokenTypeOp o) { return tokenField(o, offsetof(StepToken, type)); })
      .Case([&](kernel::TokenParallelOp o) -> SmallVector<Value> { return {convertTokenParallel(r, o.getStep())}; })
      .Case([&](kernel::BeginTasksOp o) -> SmallVector<Value> { return {convertBeginTasks(r, o)}; })
      .Case([&](kernel::NextTaskOp o) -> SmallVector<Value> { return {convertNextTask(r, o)}; })
      .Case([&](kernel::SpanOp o) { return convertSpan(r, o); })
      .Case([&](kernel::WeightOp o) -> SmallVector<Value> { return {r.buffer(type(o), weightAddress(r, o))}; })
      .Case([&](kernel::KvCacheOp o) -> SmallVector<Value> { return {r.constant(r.getOffset(o.getNameAttr()))}; })
      .Case<kernel::KeysOp, kernel::MatricesOp, kernel::ColumnsOp>([&](auto o) -> SmallVector<Value> {
        return {r.buffer(type(o), r.kvAddress(o.getStep(), o.getCache(), o.getSlot(), 0))};
      })
      .Case([&](kernel::ValuesOp o) -> SmallVector<Value> {
        kernel::KvLayout layout(cast<talc::KvCacheType>(o.getCache().getType()));
        return {r.buffer(type(o), r.kvAddress(o.getStep(), o.getCache(), o.getSlot(), layout.keyBytes()))};
      })
      .Case<kernel::GradientOp, kernel::LossScaleOp>(
          [&](auto o) -> SmallVector<Value> { return {convertTraining(r, o)}; })
      .Case([&](kernel::LabelOp o) { return element(o, offsetof(StepContext, labels), 4, 0); })
      .Case([&](kernel::BytesOp o) -> SmallVector<Value> { return {r.byteBuffer(o)}; })
      .Case([&](kernel::OutputOp o) -> SmallVector<Value> {
        Value rows = r.field(o.getStep(), outputField(o.getOutput(), offsetof(Output, count)), r.b.getI64Type());
        Value data = r.field(o.getStep(), outputField(o.getOutput(), offsetof(Output, data)), r.pointer());
        return {r.buffer(type(o), data, rows)};
      })
      .Case([&](kernel::ArenaOp o) -> SmallVector<Value> { return {convertArena(r, o)}; })
      .Case([&](kernel::BarrierOp o) -> SmallVector<Value> {
        convertBarrier(r, o);
        return {};
      })
      .Case([&](kernel::MarkOp o) -> SmallVector<Value> {
        convertMark(r, o);
        return {};
      });
}

struct ConvertStepToLLVM : talc::impl::ConvertStepToLLVMBase<ConvertStepToLLVM> {
  // Types are converted last, since the layout of a KV cache is needed while ops are converted.
  void runOnOperation() override {
    if (failed(talc::checkComputeOps(getOperation())) || failed(checkOffsets()))
      return signalPassFailure();
    talc::convertBlockBuffers(getOperation());
    int64_t read = convertAll(
        [](Operation *op) { return isa<kernel::KernelDialect>(op->getDialect()) && !isa<kernel::KvCacheOp>(op); });
    int64_t caches = convertAll([](Operation *op) { return isa<kernel::KvCacheOp>(op); });
    talc::PassRemarks("codegen", "convert-step-to-llvm").did(getOperation(), [&] {
      return llvm::formatv("{0} reads of the running step become loads from its struct, {1} KV caches offsets", read,
                           caches);
    });
    convertSignatures();
    exportEntries();
  }

  // A program that was edited by hand may lack the results of plan-memory, or have more results than the context.
  LogicalResult checkOffsets() {
    ModuleOp module = getOperation();
    auto plan = module->getAttrOfType<DictionaryAttr>(talc::planAttr);
    bool hasSlots = plan && plan.getAs<IntegerAttr>(talc::slotBytesKey);
    auto isPlaced = [&](FlatSymbolRefAttr name) {
      Operation *symbol = module.lookupSymbol(name.getAttr());
      return symbol && symbol->getAttrOfType<IntegerAttr>(talc::offsetAttr);
    };
    WalkResult result = module.walk([&](Operation *op) -> WalkResult {
      auto weight = dyn_cast<kernel::WeightOp>(op);
      auto cache = dyn_cast<kernel::KvCacheOp>(op);
      auto gradient = dyn_cast<kernel::GradientOp>(op);
      if ((gradient && !gradient.getOffset()) || (weight && !isPlaced(weight.getNameAttr())) ||
          (cache && !isPlaced(cache.getNameAttr())) || (isa<kernel::KeysOp, kernel::ValuesOp>(op) && !hasSlots))
        return op->emitOpError("has no offset in memory; plan-memory assigns one");
      auto output = op->getAttrOfType<IntegerAttr>("output");
      if (isa<kernel::OutputOp, kernel::OutputCountOp, kernel::OutputTokenOp>(op) &&
          (output.getInt() < 0 || output.getInt() >= talc::artifact::maxOutputs))
        return op->emitOpError() << "is of the result " << output.getInt() << "; a model has at most "
                                 << talc::artifact::maxOutputs;
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  // Returns the number of ops.
  int64_t convertAll(llvm::function_ref<bool(Operation *)> chosen) {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (chosen(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      ContextReader reader(op, getOperation());
      op->replaceAllUsesWith(convert(reader, op));
      op->erase();
    }
    return static_cast<int64_t>(ops.size());
  }

  // In signatures, steps become pointers and KV caches offsets.
  void convertSignatures() {
    Builder builder(&getContext());
    auto convertType = [&](Type type) -> Type {
      if (isa<kernel::StepType>(type))
        return LLVM::LLVMPointerType::get(&getContext());
      return isa<talc::KvCacheType>(type) ? builder.getI64Type() : type;
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Type> types;
      for (Type type : function.getArgumentTypes())
        types.push_back(convertType(type));
      for (auto [argument, type] : llvm::zip(function.getArguments(), types))
        argument.setType(type);
      function.setType(builder.getFunctionType(types, function.getResultTypes()));
    }
  }

  // @prefill -> @talc_prefill, the only symbols of the object that are visible.
  void exportEntries() {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(talc::entryAttr))
        function.setName(("talc_" + function.getName()).str());
      else
        function.setPrivate();
    }
  }
};

}  // namespace
