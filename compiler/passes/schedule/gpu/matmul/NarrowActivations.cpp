// SPDX-License-Identifier: Apache-2.0
// Buffers and the arguments that calls pass them as have one type. Whatever else one of them is used for, even one call
// among many, leaves all of them as they are.
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

// The type that a piece rounds its rows to; null: none.
Type roundedBy(Operation *piece) {
  auto matmul = dyn_cast<kernel::MatmulOp>(piece);
  return matmul && obstacleToMatrices(matmul).empty() ? cast<MemRefType>(matmul.getWeight().getType()).getElementType()
                                                      : Type();
}

// Whether a piece stores every number of its result once, and reads none of them.
bool storesOnce(Operation *piece) {
  return TypeSwitch<Operation *, bool>(piece)
      .Case<kernel::NormOp, kernel::MatmulOp, kernel::CombineOp>([](auto) { return true; })
      .Case([](kernel::AttentionOp op) { return !op.getBlock(); })
      .Case([](linalg::GenericOp op) { return !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)); })
      .Default(false);
}

class NarrowedActivations {
public:
  NarrowedActivations(ModuleOp module, Type type) : module(module), type(type), symbols(module) {}

  void run() {
    module.walk([&](Operation *op) {
      if (isa<kernel::ArenaOp>(op))
        addIfRows(op->getResult(0));
      if (auto function = dyn_cast<func::FuncOp>(op); function && !function.isExternal())
        for (BlockArgument argument : function.getArguments())
          addIfRows(argument);
      if (auto call = dyn_cast<func::CallOp>(op))
        calls[calleeOf(call)].push_back(call);
    });
    while (values.remove_if([&](Value value) { return !canBeRounded(value); }))
      ;
    for (Value value : values)
      round(value);
  }

private:
  void addIfRows(Value value) {
    auto memref = dyn_cast<MemRefType>(value.getType());
    if (memref && memref.getRank() == 2 && memref.getElementType().isF32() && memref.getLayout().isIdentity())
      values.insert(value);
  }

  func::FuncOp calleeOf(func::CallOp call) { return symbols.lookup<func::FuncOp>(call.getCallee()); }

  bool canBeRounded(Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return isRounded(use); }) && isPassedRounded(value);
  }

  bool isRounded(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp callee = calleeOf(call);
      return callee && !callee.isExternal() && values.contains(callee.getArgument(use.getOperandNumber()));
    }
    if (use.get() == kernel::getDestination(op))
      return storesOnce(op);
    auto matmul = dyn_cast<kernel::MatmulOp>(op);
    return matmul && &use == &matmul.getXMutable() && roundedBy(op) == type;
  }

  // An argument: by every call.
  bool isPassedRounded(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return true;
    auto found = calls.find(argument.getOwner()->getParentOp());
    return found != calls.end() && llvm::all_of(found->second, [&](func::CallOp call) {
             return values.contains(call.getOperand(argument.getArgNumber()));
           });
  }

  void round(Value value) {
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
      return llvm::formatv("argument {0} holds rows that contractions alone read: stored as {1}",
                           argument.getArgNumber(), type);
    });
  }

  ModuleOp module;
  const Type type;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, SmallVector<func::CallOp>> calls;  // of each function
  llvm::SetVector<Value> values;                                 // that may still be rounded
};

struct NarrowActivations : talc::impl::NarrowActivationsBase<NarrowActivations> {
  // When this runs again, functions whose code was found in the cache have lost their bodies: it then finds less to
  // narrow, and what was noted before stays.
  void runOnOperation() override {
    llvm::SetVector<Type> types;
    getOperation().walk([&](Operation *op) {
      if (Type type = roundedBy(op))
        types.insert(type);
    });
    for (Type type : types)
      NarrowedActivations(getOperation(), type).run();
  }
};

}  // namespace

}  // namespace talc
