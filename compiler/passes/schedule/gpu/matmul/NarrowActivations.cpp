// SPDX-License-Identifier: Apache-2.0
// narrow-activations: marks the activations that are stored as MMAs convert them (NarrowedActivations.h). A buffer and
// the arguments that it is passed to have one type: if any other op reads one of them, all stay in f32.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/matmul/NarrowedActivations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

#define GEN_PASS_DEF_NARROWACTIVATIONS
#include "compiler/passes/Passes.h.inc"

namespace {

// The type that an op converts its activations to; null: none.
Type convertedType(Operation *op, const GpuFacts &gpu) {
  auto matmul = dyn_cast<kernel::MatmulOp>(op);
  return matmul && usesMma(matmul, gpu) ? cast<MemRefType>(matmul.getWeight().getType()).getElementType() : Type();
}

// Whether an op stores every value of its result once, and does not read it.
bool storesOnce(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<kernel::NormOp, kernel::MatmulOp, kernel::CombineOp>([](auto) { return true; })
      .Case([](kernel::AttentionOp op) { return !op.getBlock(); })
      .Case([](linalg::GenericOp op) { return !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)); })
      .Default(false);
}

class Narrowing {
public:
  Narrowing(ModuleOp module, Type type, const GpuFacts &gpu) : module(module), type(type), gpu(gpu), symbols(module) {}

  void run() {
    module.walk([&](Operation *op) {
      if (isa<kernel::ArenaOp>(op))
        addCandidate(op->getResult(0));
      if (auto function = dyn_cast<func::FuncOp>(op); function && !function.isExternal())
        for (BlockArgument argument : function.getArguments())
          addCandidate(argument);
      if (auto call = dyn_cast<func::CallOp>(op))
        calls[calleeOf(call)].push_back(call);
    });
    while (values.remove_if([&](Value value) { return !canNarrow(value); }))
      ;
    for (Value value : values)
      mark(value);
  }

private:
  void addCandidate(Value value) {
    auto memref = dyn_cast<MemRefType>(value.getType());
    if (memref && memref.getRank() == 2 && memref.getElementType().isF32() && memref.getLayout().isIdentity())
      values.insert(value);
  }

  func::FuncOp calleeOf(func::CallOp call) { return symbols.lookup<func::FuncOp>(call.getCallee()); }

  bool canNarrow(Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return canStoreNarrow(use); }) &&
           isNarrowInAllCalls(value);
  }

  bool canStoreNarrow(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp callee = calleeOf(call);
      return callee && !callee.isExternal() && values.contains(callee.getArgument(use.getOperandNumber()));
    }
    if (use.get() == kernel::getDestination(op))
      return storesOnce(op);
    auto matmul = dyn_cast<kernel::MatmulOp>(op);
    return matmul && &use == &matmul.getXMutable() && convertedType(op, gpu) == type;
  }

  // Whether all calls pass an argument a narrow buffer.
  bool isNarrowInAllCalls(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return true;
    auto callers = calls.find(argument.getOwner()->getParentOp());
    return callers != calls.end() && llvm::all_of(callers->second, [&](func::CallOp call) {
             return values.contains(call.getOperand(argument.getArgNumber()));
           });
  }

  void mark(Value value) {
    auto note = TypeAttr::get(type);
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument) {
      value.getDefiningOp()->setAttr(kernel::narrowedAttr, note);
      return;
    }
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (function.getArgAttr(argument.getArgNumber(), kernel::narrowedAttr))
      return;
    function.setArgAttr(argument.getArgNumber(), kernel::narrowedAttr, note);
    PassRemarks("schedule", "narrow-activations").did(function, [&] {
      return llvm::formatv("argument {0} is read by tensor cores only: stored as {1}", argument.getArgNumber(), type);
    });
  }

  ModuleOp module;
  const Type type;
  const GpuFacts &gpu;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, SmallVector<func::CallOp>> calls;  // of each function
  llvm::SetVector<Value> values;                                 // candidates that are left
};

struct NarrowActivations : talc::impl::NarrowActivationsBase<NarrowActivations> {
  using Base::Base;

  // When this runs again, functions whose code was found in the cache have lost their bodies: it then finds less to
  // narrow, and what was marked before stays.
  void runOnOperation() override {
    FailureOr<GpuFacts> facts = getGpuFacts(getOperation(), gpu);
    if (failed(facts))
      return signalPassFailure();
    llvm::SetVector<Type> types;
    getOperation().walk([&](Operation *op) {
      if (Type type = convertedType(op, *facts))
        types.insert(type);
    });
    for (Type type : types)
      Narrowing(getOperation(), type, *facts).run();
  }
};

}  // namespace

}  // namespace talc
