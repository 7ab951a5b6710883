// SPDX-License-Identifier: Apache-2.0
// split-entries: clones the model for each entry: whole sequences, any number of tokens, exactly one token. An entry
// that has a name, such as train, keeps it.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/CallSites.h"
#include "compiler/passes/optimize/ContextValues.h"
#include "dialects/talc/LogitParts.h"
#include "dialects/talc/ModuleKeys.h"
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
Type withOneToken(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0))
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  shape[0] = 1;
  return tensor.clone(shape);
}

// Gives every activation of the step one token; keys and values from a KV cache keep any number.
void setOneToken(func::FuncOp function) {
  llvm::DenseSet<Value> context = findContextValues(function);
  auto narrow = [&](Value value) {
    if (!context.contains(value))
      value.setType(withOneToken(value.getType()));
  };
  function.walk([&](Block *block) { llvm::for_each(block->getArguments(), narrow); });
  function.walk([&](Operation *op) {
    if (op != function)
      llvm::for_each(op->getResults(), narrow);
  });
  FunctionType type = function.getFunctionType();
  function.setFunctionType(FunctionType::get(function.getContext(), llvm::map_to_vector(type.getInputs(), withOneToken),
                                             llvm::map_to_vector(type.getResults(), withOneToken)));
}

struct SplitEntries : talc::impl::SplitEntriesBase<SplitEntries> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<Functions> entries;  // each entry, and the functions that it reaches
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(entryAttr))
        collectCalled(function, symbols, entries.emplace_back());
    if (failed(checkEntries(entries)) || failed(checkNames(symbols)))
      return signalPassFailure();
    // Functions that no entry reaches are erased, and clones may take the name of any function.
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
    if (auto name = functions.front()->getAttrOfType<StringAttr>(entryNameAttr)) {
      cloneEntry(name.getValue(), functions, symbols);
      return;
    }
    PassRemarks("optimize", "split-entries").did(functions.front(), [&]() -> std::string {
      return readsKvCache(functions) ? "has a KV cache: prefill for any number of tokens, decode for one"
                                     : "has no KV cache: encode for whole sequences";
    });
    if (!readsKvCache(functions)) {
      cloneEntry(encodeEntry, functions, symbols);
      return;
    }
    cloneEntry(prefillEntry, functions, symbols);
    SmallVector<func::FuncOp> decode = cloneEntry(decodeEntry, functions, symbols);
    dropLogitParts(decode.front());
    for (func::FuncOp function : decode)
      setOneToken(function);
  }

  // Whether steps depend on earlier ones, or on a source.
  static bool readsKvCache(const Functions &functions) {
    return reads(functions, KvCacheRole::sequence) || reads(functions, KvCacheRole::source) ||
           reads(functions, KvCacheRole::memory) || reads(functions, KvCacheRole::recurrence);
  }

  static bool reads(const Functions &functions, KvCacheRole role) {
    return llvm::any_of(functions, [&](Operation *function) {
      WalkResult result = function->walk([&](Operation *op) {
        auto isOfRole = [&](Type type) {
          auto cache = dyn_cast<KvCacheType>(type);
          return cache && cache.getRole() == role;
        };
        bool isRead = !isa<KvAppendOp, func::CallOp>(op) && llvm::any_of(op->getOperandTypes(), isOfRole);
        return isRead ? WalkResult::interrupt() : WalkResult::advance();
      });
      return result.wasInterrupted();
    });
  }

  // A model with a KV cache gets its sequences in several steps; the keys of one step are complete only for whole
  // sequences.
  static LogicalResult checkReads(const Functions &functions) {
    auto entry = cast<func::FuncOp>(functions.front());
    if (!readsKvCache(functions))
      return success();
    if (entry.getNumResults() == 0)
      return entry.emitOpError() << "has no results, but reads a KV cache; an encoder takes whole sequences";
    if (reads(functions, KvCacheRole::step))
      return entry.emitOpError() << "attends to the keys of a step alone, but also reads a KV cache; its steps are not "
                                    "whole sequences";
    return success();
  }

  // There is one entry with results, and an encoder without results if that entry is a decoder.
  LogicalResult checkEntries(ArrayRef<Functions> entries) {
    func::FuncOp model, encoder;
    bool isDecoder = false, readsSource = false;
    for (const Functions &functions : entries) {
      auto entry = cast<func::FuncOp>(functions.front());
      func::FuncOp &previous = entry.getNumResults() == 0 ? encoder : model;
      if (previous)
        return entry.emitOpError() << "is a second function with " << entryAttr << " and "
                                   << (entry.getNumResults() == 0 ? "no" : "with") << " results, after @"
                                   << previous.getSymName();
      previous = entry;
      readsSource |= reads(functions, KvCacheRole::source);
      isDecoder |= readsKvCache(functions);
      if (failed(checkReads(functions)))
        return failure();
    }
    if (!model)
      return getOperation().emitError() << "has no function with " << entryAttr << " and results";
    if (encoder && !isDecoder)
      return model.emitOpError() << "reads no KV cache beside the " << entryAttr << " of an encoder";
    if (readsSource && !encoder)
      return model.emitOpError() << "reads a source, which a function with " << entryAttr
                                 << " and no results would leave";
    return success();
  }

  static LogicalResult checkNames(const SymbolTable &symbols) {
    for (StringRef name :
         {StringRef(encodeEntry), StringRef(prefillEntry), StringRef(decodeEntry), StringRef(trainEntry)})
      if (Operation *taken = symbols.lookup(name); taken && !isa<func::FuncOp>(taken))
        return taken->emitOpError() << "has the name of an entry, @" << name << "; give it another name";
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
  static SmallVector<func::FuncOp> cloneEntry(StringRef entryName, const Functions &functions, SymbolTable &symbols) {
    SmallVector<func::FuncOp> clones;
    llvm::DenseMap<StringRef, StringAttr> names;
    Builder builder(functions.front()->getContext());
    for (Operation *original : functions) {
      auto clone = cast<func::FuncOp>(original->clone());
      bool isEntry = original->hasAttr(entryAttr);
      StringRef name = cast<func::FuncOp>(original).getSymName();
      clone.setSymName(isEntry ? entryName.str() : (name + "." + entryName).str());
      clone->setAttr(entryNameAttr, builder.getStringAttr(entryName));
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
