// SPDX-License-Identifier: Apache-2.0
// split-entries: one copy of the model for each kind of step: whole sequences, any number of tokens, exactly one.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/CallSites.h"
#include "compiler/passes/optimize/ContextValues.h"
#include "dialects/talc/LogitParts.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/SetVector.h"

namespace talc {
#define GEN_PASS_DEF_SPLITENTRIES
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
  llvm::DenseSet<Value> past = findContextValues(function);
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

struct SplitEntries : talc::impl::SplitEntriesBase<SplitEntries> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<Functions> entries;  // each entry, and what it reaches
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(entryAttr))
        collectCalled(function, symbols, entries.emplace_back());
    if (failed(checkEntries(entries)) || failed(checkNames(symbols)))
      return signalPassFailure();
    // What no entry reaches is left out; and the clones may take any function's name.
    SmallVector<func::FuncOp> originals(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : originals) {
      symbols.remove(function);
      function->remove();
    }
    for (const Functions &functions : entries)
      split(functions, symbols);
    for (func::FuncOp function : originals)
      function->destroy();
  }

  static void split(const Functions &functions, SymbolTable &symbols) {
    PassRemarks("optimize", "split-entries").did(functions.front(), [&]() -> std::string {
      return keepsPast(functions) ? "keeps what it has seen: prefill for any number of tokens, decode for one"
                                  : "keeps nothing between steps: encode for whole sequences";
    });
    if (!keepsPast(functions)) {
      cloneEntry(encodeEntry, functions, symbols);
      return;
    }
    cloneEntry(prefillEntry, functions, symbols);
    SmallVector<func::FuncOp> ofOneToken = cloneEntry(decodeEntry, functions, symbols);
    dropLogitParts(ofOneToken.front());
    for (func::FuncOp function : ofOneToken)
      setOneRow(function);
  }

  // Whether steps read more than what they are given.
  static bool keepsPast(const Functions &functions) {
    return reads(functions, KvCacheRole::sequence) || reads(functions, KvCacheRole::source) ||
           reads(functions, KvCacheRole::memory);
  }

  static bool reads(const Functions &functions, KvCacheRole role) {
    return llvm::any_of(functions, [&](Operation *function) {
      WalkResult result = function->walk([&](Operation *op) {
        auto read = dyn_cast<KvReadOp>(op);
        auto memory = dyn_cast<MemoryOp>(op);
        Value state = read ? read.getCache() : memory ? memory.getCache() : Value();
        return state && cast<KvCacheType>(state.getType()).getRole() == role ? WalkResult::interrupt()
                                                                             : WalkResult::advance();
      });
      return result.wasInterrupted();
    });
  }

  // What is kept comes in steps; the keys of a step are all there are of whole sequences only.
  static LogicalResult checkReads(const Functions &functions) {
    auto entry = cast<func::FuncOp>(functions.front());
    if (!keepsPast(functions))
      return success();
    if (entry.getNumResults() == 0)
      return entry.emitOpError() << "has no results, but reads a state; an encoder takes whole sequences";
    if (reads(functions, KvCacheRole::step))
      return entry.emitOpError()
             << "attends to the keys of a step alone, but also reads what sequences keep; its steps "
                "are no whole sequences";
    return success();
  }

  // One entry with results; beside it an encoder without any if that entry is a decoder.
  LogicalResult checkEntries(ArrayRef<Functions> entries) {
    func::FuncOp model, encoder;
    bool isDecoder = false, readsSource = false;
    for (const Functions &functions : entries) {
      auto entry = cast<func::FuncOp>(functions.front());
      func::FuncOp &place = entry.getNumResults() == 0 ? encoder : model;
      if (place)
        return entry.emitOpError() << "is a second function with " << entryAttr << " and "
                                   << (entry.getNumResults() == 0 ? "no" : "with") << " results, after @"
                                   << place.getSymName();
      place = entry;
      readsSource |= reads(functions, KvCacheRole::source);
      isDecoder |= keepsPast(functions);
      if (failed(checkReads(functions)))
        return failure();
    }
    if (!model)
      return getOperation().emitError() << "has no function with " << entryAttr << " and results";
    if (encoder && !isDecoder)
      return model.emitOpError() << "reads no state beside the " << entryAttr << " of an encoder";
    if (readsSource && !encoder)
      return model.emitOpError() << "reads a source, which a function with " << entryAttr
                                 << " and no results would leave";
    return success();
  }

  static LogicalResult checkNames(const SymbolTable &symbols) {
    for (StringRef entry : {encodeEntry, prefillEntry, decodeEntry})
      if (Operation *taken = symbols.lookup(entry); taken && !isa<func::FuncOp>(taken))
        return taken->emitOpError() << "has the name of an entry, @" << entry << "; give it another name";
    return success();
  }

  // The entry and all functions that it reaches.
  static void collectCalled(func::FuncOp entry, SymbolTable &symbols, Functions &functions) {
    functions.insert(entry);
    for (size_t i = 0; i < functions.size(); ++i)
      functions[i]->walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          functions.insert(callee);
      });
  }

  // Clones of `functions`, which call each other: @model -> @decode, @block -> @block.decode.
  static SmallVector<func::FuncOp> cloneEntry(StringRef entry, const Functions &functions, SymbolTable &symbols) {
    SmallVector<func::FuncOp> clones;
    llvm::DenseMap<StringRef, StringAttr> names;
    Builder builder(functions.front()->getContext());
    for (Operation *original : functions) {
      auto clone = cast<func::FuncOp>(original->clone());
      bool isEntry = original->hasAttr(entryAttr);
      StringRef name = cast<func::FuncOp>(original).getSymName();
      clone.setSymName(isEntry ? entry.str() : (name + "." + entry).str());
      clone->setAttr(entryNameAttr, builder.getStringAttr(entry));
      names[name] = symbols.insert(clone);
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
