// SPDX-License-Identifier: Apache-2.0
// split-phases: one copy of the model for any number of tokens and one for exactly one token.
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/CallSites.h"
#include "compiler/passes/optimize/PastRows.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/SetVector.h"

namespace talc {
#define GEN_PASS_DEF_SPLITPHASES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

using Functions = llvm::SetVector<Operation *>;

// `?` of the first dimension becomes 1.
Type withOneRow(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0))
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  shape[0] = 1;
  return tensor.clone(shape);
}

// Gives every activation of the step one row; past keys and values keep any number.
void setOneRow(func::FuncOp function) {
  llvm::DenseSet<Value> past = findPastRows(function);
  auto narrow = [&](Value value) {
    if (!past.contains(value))
      value.setType(withOneRow(value.getType()));
  };
  function.walk([&](Block *block) { llvm::for_each(block->getArguments(), narrow); });
  function.walk([&](Operation *op) {
    if (op != function)
      llvm::for_each(op->getResults(), narrow);
  });
  FunctionType type = function.getFunctionType();
  function.setFunctionType(FunctionType::get(function.getContext(), llvm::map_to_vector(type.getInputs(), withOneRow),
                                             llvm::map_to_vector(type.getResults(), withOneRow)));
}

struct SplitPhases : talc::impl::SplitPhasesBase<SplitPhases> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    func::FuncOp entry = findEntry();
    Functions functions;
    if (!entry || failed(collectCalled(entry, symbols, functions)))
      return signalPassFailure();
    for (StringRef phase : {prefillPhase, decodePhase})
      if (Operation *taken = symbols.lookup(phase); taken && taken != entry) {
        taken->emitOpError() << "has the name of a phase, @" << phase << "; give it another name";
        return signalPassFailure();
      }
    clonePhase(prefillPhase, functions, symbols);
    for (func::FuncOp function : clonePhase(decodePhase, functions, symbols))
      setOneRow(function);
    for (Operation *function : functions)
      function->erase();
  }

  func::FuncOp findEntry() {
    func::FuncOp entry;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(entryAttr))
        continue;
      if (entry) {
        function.emitOpError() << "is a second function with " << entryAttr << ", after @" << entry.getSymName();
        return {};
      }
      entry = function;
    }
    if (!entry)
      getOperation().emitError() << "has no function with " << entryAttr;
    return entry;
  }

  // The entry and all functions that it reaches. Each must have a body.
  static LogicalResult collectCalled(func::FuncOp entry, SymbolTable &symbols, Functions &functions) {
    functions.insert(entry);
    for (size_t i = 0; i < functions.size(); ++i) {
      auto function = cast<func::FuncOp>(functions[i]);
      if (function.isExternal())
        return function.emitOpError("has no body");
      function.walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          functions.insert(callee);
      });
    }
    return success();
  }

  // Clones of `functions`, which call each other: @model -> @decode, @block -> @block.decode.
  static SmallVector<func::FuncOp> clonePhase(StringRef phase, const Functions &functions, SymbolTable &symbols) {
    SmallVector<func::FuncOp> clones;
    llvm::DenseMap<StringRef, StringAttr> names;
    Builder builder(functions.front()->getContext());
    for (Operation *original : functions) {
      auto clone = cast<func::FuncOp>(original->clone());
      bool isEntry = original->hasAttr(entryAttr);
      StringRef name = cast<func::FuncOp>(original).getSymName();
      clone.setSymName(isEntry ? phase.str() : (name + "." + phase).str());
      clone->setAttr(phaseAttr, builder.getStringAttr(phase));
      if (isEntry && name == phase)
        symbols.remove(original);
      names[name] = symbols.insert(clone, Block::iterator(functions.front()));
      clones.push_back(clone);
    }
    for (func::FuncOp clone : clones)
      clone.walk([&](func::CallOp call) {
        if (StringAttr name = names.lookup(call.getCallee()))
          call.setCalleeAttr(FlatSymbolRefAttr::get(name));
      });
    return clones;
  }
};

}  // namespace
