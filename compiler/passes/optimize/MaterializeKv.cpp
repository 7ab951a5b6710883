// SPDX-License-Identifier: Apache-2.0
// materialize-kv: routes attention over the step's own tokens through a KV cache, so that later stages know only one
// kind of attention.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/CallSites.h"
#include "compiler/passes/optimize/ContextValues.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_MATERIALIZEKV
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

int64_t width(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(1);
}

// The scratch caches of a module: one symbol for each type, one handle for each function that needs it.
class ScratchCaches {
public:
  ScratchCaches(ModuleOp module) : module(module), symbols(module), callSites(module) {}

  // The handle of the scratch cache in `function`: an argument if the function is called, else fetched at its
  // beginning.
  Value handle(func::FuncOp function, KvCacheType type) {
    Value &handle = handles[{function, type}];
    if (handle)
      return handle;
    if (callSites.callsTo(function).empty())
      return handle = fetch(function, type);
    Value argument = addArgument(callSites, function, type, function.getLoc(), [&](func::CallOp call) {
      auto caller = call->getParentOfType<func::FuncOp>();
      Value &fetched = fetchedBy[{caller, type}];
      return fetched ? fetched : fetched = fetch(caller, type);
    });
    return handles[{function, type}] = argument;
  }

  ArrayRef<func::FuncOp> functions() const { return callSites.calleesFirst(); }

private:
  Value fetch(func::FuncOp function, KvCacheType type) {
    auto builder = OpBuilder::atBlockBegin(&function.front());
    return GetKvCacheOp::create(builder, function.getLoc(), type, symbol(type));
  }

  StringRef symbol(KvCacheType type) {
    KvCacheOp &state = states[type];
    if (state)
      return state.getSymName();
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    std::string name = ("attention.scratch." + Twine(type.getHeads()) + "x" + Twine(type.getWidth())).str();
    state = KvCacheOp::create(builder, module.getLoc(), name, type, builder.getStringAttr("private"));
    symbols.insert(state, module.getBody()->begin());
    return state.getSymName();
  }

  ModuleOp module;
  SymbolTable symbols;
  CallSites callSites;
  llvm::DenseMap<std::pair<Operation *, Type>, Value> handles, fetchedBy;
  llvm::DenseMap<Type, KvCacheOp> states;
};

struct MaterializeKv : talc::impl::MaterializeKvBase<MaterializeKv> {
  void runOnOperation() override {
    ScratchCaches scratch(getOperation());
    for (func::FuncOp function : scratch.functions())
      if (failed(runOnFunction(function, scratch)))
        return signalPassFailure();
  }

  LogicalResult runOnFunction(func::FuncOp function, ScratchCaches &scratch) {
    SmallVector<AttentionOp> attentions;
    function.walk([&](AttentionOp attention) { attentions.push_back(attention); });
    if (attentions.empty())
      return success();
    llvm::DenseSet<Value> context = findContextValues(function);
    for (AttentionOp attention : attentions) {
      Operation *keys = attention.getKeys().getDefiningOp(), *values = attention.getValues().getDefiningOp();
      if (keys == values && isa_and_present<KvReadOp>(keys))
        continue;
      if (context.contains(attention.getKeys()) || context.contains(attention.getValues()))
        return attention.emitOpError("has keys or values computed from a talc.kv_read, expected both results of one "
                                     "talc.kv_read or neither");
      if (failed(materialize(attention, function, scratch)))
        return failure();
    }
    return success();
  }

  // attention(q, k, v)  ->  kv_append(s, k, v); k', v' = kv_read(s); attention(q, k', v')
  LogicalResult materialize(AttentionOp attention, func::FuncOp function, ScratchCaches &scratch) {
    auto capacity = getOperation()->getAttrOfType<IntegerAttr>(maxSequenceAttr);
    if (!capacity)
      return attention.emitOpError() << "needs the module's attribute " << maxSequenceAttr;
    OpBuilder builder(attention);
    Location loc = attention.getLoc();
    int64_t heads = attention.getKvHeads(), keyWidth = width(attention.getKeys());
    auto stateType = KvCacheType::get(&getContext(), heads, keyWidth / heads, capacity.getInt(), KvCacheRole::step);
    Value state = scratch.handle(function, stateType), sequences = attention.getSequences();
    PassRemarks("optimize", "materialize-kv").did(attention, [&] {
      return llvm::formatv("attention over the step's own tokens goes through a scratch KV cache of {0} tokens",
                           capacity.getInt());
    });
    KvAppendOp::create(builder, loc, state, attention.getKeys(), attention.getValues(), sequences);
    auto rows = RankedTensorType::get({ShapedType::kDynamic, keyWidth}, builder.getF32Type());
    auto read = KvReadOp::create(builder, loc, rows, rows, state, sequences);
    attention.getKeysMutable().assign(read.getKeys());
    attention.getValuesMutable().assign(read.getValues());
    return success();
  }
};

}  // namespace
