// SPDX-License-Identifier: Apache-2.0
// check-model: checks that involve several operations or the module.
//
// A type says that a value has `?` rows, but not whether these are the tokens of the step, those wanted for a result,
// or keys. Operations that depend on the borders of sequences index the tokens of the step, so they must get all of
// them.
#include "compiler/passes/Passes.h"
#include "dialects/talc/LogitParts.h"
#include "dialects/talc/RecurrenceOps.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/gradients/Differentiable.h"
#include "runtime/device/Step.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace talc {
#define GEN_PASS_DEF_CHECKMODEL
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// The rows that a value has.
struct Rows {
  enum Kind { Step, Wanted, Keys, None } kind;
  int64_t output = 0;

  bool operator==(const Rows &other) const { return kind == other.kind && output == other.output; }
  bool operator!=(const Rows &other) const { return !(*this == other); }

  std::string text() const {
    static constexpr llvm::StringLiteral names[] = {"the tokens of the step", "tokens wanted for the result ", "keys",
                                                    "a weight"};
    return names[kind].str() + (kind == Wanted ? std::to_string(output) : "");
  }
};

// Tracks rows through a function.
class RowCheck {
public:
  RowCheck(func::FuncOp function) : function(function) {
    auto name = function->getAttrOfType<StringAttr>(entryNameAttr);
    count = name && name.getValue() == decodeEntry ? 1 : ShapedType::kDynamic;
  }

  LogicalResult run() {
    if (function.isExternal())
      return function.emitOpError("has no body");
    if (function->hasAttr(entryAttr) && failed(checkEntry()))
      return failure();
    WalkResult result = function.walk([&](Operation *op) -> WalkResult { return check(op); });
    return failure(result.wasInterrupted());
  }

private:
  // (ids, sequences) -> activations..., or (ids, sequences, labels) -> loss
  LogicalResult checkEntry() {
    auto ids = RankedTensorType::get({count}, IntegerType::get(function.getContext(), 32));
    auto isResult = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getRank() == 2 && tensor.getElementType().isF32() && tensor.getDimSize(0) == count &&
             tensor.getDimSize(1) > 0;
    };
    SmallVector<Type> inputs = {ids, SequencesType::get(function.getContext())};
    if (function.getNumArguments() == 3 && count != 1)
      inputs.push_back(ids);
    if (function.getArgumentTypes() != ArrayRef<Type>(inputs) || !llvm::all_of(function.getResultTypes(), isResult))
      return function.emitOpError() << "is an entry of type " << function.getFunctionType() << ", expected (" << ids
                                    << ", !talc.sequences) -> rows of f32";
    unsigned results = countResults(function);
    if (results > artifact::maxResults)
      return function.emitOpError() << "has " << results << " results; a model has at most " << artifact::maxResults;
    if (function.getNumResults() > artifact::maxOutputs)
      return function.emitOpError() << "has " << function.getNumResults()
                                    << " results and parts of logits; a model has "
                                    << "at most " << artifact::maxOutputs;
    return success();
  }

  LogicalResult check(Operation *op) {
    if (auto join = dyn_cast<JoinOp>(op); join && failed(expect(op, join.getY(), of(join.getX()))))
      return failure();
    if (op->hasTrait<KeepsRows>())
      return yields(op->getResult(0), of(op->getOperand(0)));
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<EmbeddingOp, PositionOp, TokenTypeOp>([&](auto op) { return yields(op.getResult(), {Rows::Step}); })
        .Case<AddOp, MulOp>([&](auto op) {
          return succeeded(expect(op, op.getRhs(), of(op.getLhs()))) ? yields(op.getResult(), of(op.getLhs()))
                                                                     : failure();
        })
        .Case([&](ExpertsOp op) {
          return succeeded(expect(op, op.getRoutes(), of(op.getX()))) ? yields(op.getResult(), of(op.getX()))
                                                                      : failure();
        })
        .Case<RopeOp, CausalConvOp>([&](auto op) {
          return succeeded(expect(op, op.getX())) ? yields(op.getResult(), {Rows::Step}) : failure();
        })
        .Case([&](KvAppendOp op) {
          return success(succeeded(expect(op, op.getKeys())) && succeeded(expect(op, op.getValues())));
        })
        .Case([&](KvReadOp op) {
          for (Value value : op.getResults())
            rows[value] = {Rows::Keys};
          return success();
        })
        .Case([&](AttentionOp op) { return checkAttention(op); })
        .Case([&](MemoryOp op) { return checkMemory(op); })
        .Case([&](RecurrenceOp op) {
          return checkStateOp(op, {op.getQueries(), op.getKeys(), op.getValues(), op.getDecay(), op.getFactors()});
        })
        .Case([&](SelectiveScanOp op) {
          return checkStateOp(op, {op.getX(), op.getSteps(), op.getInput(), op.getOutput()});
        })
        .Case([&](SelectOp op) { return checkSelect(op); })
        .Case<RopeDgradOp, AttentionDgradOp, func::CallOp>([&](Operation *op) { return yieldsStep(op); })
        .Case([&](SpreadOp op) {
          Rows wanted = {Rows::Wanted, static_cast<int64_t>(op.getOutput())};
          return succeeded(expect(op, op.getGradient(), wanted)) ? yields(op.getResult(), {Rows::Step}) : failure();
        })
        .Case([&](CrossEntropyOp op) {
          Rows found = of(op.getLogits());
          return success(succeeded(yields(op.getLoss(), found)) && succeeded(yields(op.getGradient(), found)));
        })
        .Case([&](func::ReturnOp op) { return checkReturn(op); })
        .Default([](Operation *) { return success(); });
  }

  // Blocks take and yield all tokens of the step, and so do some operations.
  LogicalResult yieldsStep(Operation *op) {
    for (Value operand : op->getOperands())
      if (of(operand) != Rows{Rows::None} && failed(expect(op, operand)))
        return failure();
    for (Value result : op->getResults())
      if (failed(yields(result, {Rows::Step})))
        return failure();
    return success();
  }

  LogicalResult checkAttention(AttentionOp op) {
    if (failed(expect(op, op.getQueries())))
      return failure();
    for (Value value : {op.getKeys(), op.getValues()})
      if (of(value) != Rows{Rows::Keys} && failed(expect(op, value)))
        return failure();
    for (Value value : {op.getSinkQueries(), op.getRowBias()})
      if (value && failed(expect(op, value)))
        return failure();
    return succeeded(checkRing(op)) ? yields(op.getResult(), {Rows::Step}) : failure();
  }

  // A ring holds the keys of a window, and the sink tokens.
  static LogicalResult checkRing(AttentionOp op) {
    auto read = op.getKeys().getDefiningOp<KvReadOp>();
    KvCacheType cache = read ? cast<KvCacheType>(read.getCache().getType()) : KvCacheType();
    int64_t window = op.getWindow(), sinkTokens = op.getSinkTokens(), held = cache ? cache.getSinkTokens() : 0;
    if (sinkTokens != held)
      return op.emitOpError() << "sees " << sinkTokens << " sink tokens of a KV cache with " << held;
    if (!cache || !cache.isRing() || (op.getMask() == MaskKind::causal && window > 0 && window <= cache.getWindow()))
      return success();
    return op.emitOpError() << "reads a ring, expected the mask causal and a window of 1 to " << cache.getWindow();
  }

  LogicalResult checkMemory(MemoryOp op) {
    for (Value value : {op.getLocal(), op.getQueries(), op.getKeys(), op.getValues()})
      if (failed(expect(op, value)))
        return failure();
    return yields(op.getResult(), {Rows::Step});
  }

  // All operands have the tokens of the step.
  LogicalResult checkStateOp(Operation *op, ArrayRef<Value> operands) {
    for (Value value : operands)
      if (failed(expect(op, value)))
        return failure();
    return yields(op->getResult(0), {Rows::Step});
  }

  LogicalResult checkSelect(SelectOp op) {
    auto output = static_cast<int64_t>(op.getOutput());
    if (function->hasAttr(entryAttr) && output >= function.getNumResults())
      return op.emitOpError() << "is for the result " << output << " of a model of " << function.getNumResults();
    return succeeded(expect(op, op.getX())) ? yields(op.getResult(), {Rows::Wanted, output}) : failure();
  }

  // The caller gets the wanted tokens of each result: selected by the model, or else by convert-talc-to-kernel.
  LogicalResult checkReturn(func::ReturnOp op) {
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      bool selected = function->hasAttr(entryAttr) && of(value) == Rows{Rows::Wanted, static_cast<int64_t>(i)};
      if (!selected && failed(expect(op, value)))
        return failure();
    }
    return success();
  }

  Rows of(Value value) {
    if (auto it = rows.find(value); it != rows.end())
      return it->second;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return {type && type.getRank() == 2 && type.getDimSize(0) == count ? Rows::Step : Rows::None};
  }

  LogicalResult expect(Operation *op, Value value, Rows expected = {Rows::Step}) {
    if (of(value) == expected)
      return success();
    return op->emitOpError() << "receives " << of(value).text() << ", expected " << expected.text();
  }

  LogicalResult yields(Value value, Rows found) {
    rows[value] = found;
    int64_t expected = found.kind == Rows::Keys ? ShapedType::kDynamic : count;
    auto type = cast<RankedTensorType>(value.getType());
    if (found.kind == Rows::None || type.getDimSize(0) == expected)
      return success();
    return value.getDefiningOp()->emitOpError()
           << "yields " << type << ", expected " << (count == 1 ? "1 row" : "? rows");
  }

  func::FuncOp function;
  int64_t count;  // tokens of a step in types
  llvm::DenseMap<Value, Rows> rows;
};

// Tracks appends to KV caches, through calls, in the order of the first step of a sequence, in which they are empty: an
// append must precede every read in that step, and there must be one. Keys of a source are appended by another entry.
class StateCheck {
public:
  explicit StateCheck(ModuleOp module) : symbols(module) {}

  LogicalResult run() {
    auto module = cast<ModuleOp>(symbols.getOp());
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(entryAttr) && failed(follow(function, {}, 0)))
        return failure();
    for (auto [cache, read] : readSources)
      if (!appendedAnywhere.contains(cache))
        return read->emitOpError() << "reads the KV cache " << cache << " of the source, to which nothing is appended";
    return success();
  }

private:
  using Caches = llvm::SmallVector<Attribute>;             // of the arguments of a function; null for other types
  static constexpr int maxDepth = 16, maxCalls = 1 << 16;  // recursion is refused later

  LogicalResult follow(func::FuncOp function, const Caches &arguments, int depth) {
    if (depth == 0)
      appended.clear();
    llvm::DenseMap<Value, Attribute> caches;
    for (auto [argument, cache] : llvm::zip(function.getArguments(), arguments))
      caches[argument] = cache;
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      if (auto get = dyn_cast<GetKvCacheOp>(op))
        caches[get.getResult()] = get.getNameAttr();
      if (auto append = dyn_cast<KvAppendOp>(op))
        return note(append, caches.lookup(append.getCache()));
      if (auto conv = dyn_cast<CausalConvOp>(op))
        return noteState(conv, caches.lookup(conv.getState()));
      if (auto recurrence = dyn_cast<RecurrenceOp>(op))
        return noteState(recurrence, caches.lookup(recurrence.getState()));
      if (auto scan = dyn_cast<SelectiveScanOp>(op))
        return noteState(scan, caches.lookup(scan.getState()));
      if (auto read = dyn_cast<KvReadOp>(op))
        return check(read, caches.lookup(read.getCache()));
      auto call = dyn_cast<func::CallOp>(op);
      auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
      if (!callee || depth == maxDepth || ++calls > maxCalls)
        return WalkResult::advance();
      Caches given;
      for (Value operand : call.getOperands())
        given.push_back(caches.lookup(operand));
      return follow(callee, given, depth + 1);
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult note(KvAppendOp append, Attribute cache) {
    // Layers use the scratch cache of a step one after the other.
    bool isShared = cast<KvCacheType>(append.getCache().getType()).getRole() == KvCacheRole::step;
    if (cache && !appended.insert(cache).second && !isShared)
      return append.emitOpError() << "appends to the KV cache " << cache
                                  << " a second time: a step appends its tokens once";
    appendedAnywhere.insert(cache);
    return success();
  }

  LogicalResult noteState(Operation *op, Attribute state) {
    if (state && !appended.insert(state).second)
      return op->emitOpError() << "changes the state " << state << " a second time: each op has a state of its own";
    return success();
  }

  LogicalResult check(KvReadOp read, Attribute cache) {
    if (!cache || appended.contains(cache))
      return success();
    if (cast<KvCacheType>(read.getCache().getType()).getRole() == KvCacheRole::source) {
      readSources.insert({cache, read});
      return success();
    }
    return read.emitOpError() << "reads the KV cache " << cache
                              << " before anything is appended to it: in the first step "
                                 "of a sequence it is empty";
  }

  SymbolTable symbols;
  int calls = 0;
  llvm::SmallDenseSet<Attribute> appended, appendedAnywhere;
  llvm::MapVector<Attribute, KvReadOp> readSources;
};

constexpr int64_t maxTokens = int64_t(1) << 30;  // of a sequence

struct CheckModel : talc::impl::CheckModelBase<CheckModel> {
  void runOnOperation() override {
    if (failed(checkLength()) || failed(checkSegments()) || failed(checkTables()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(RowCheck(function).run()))
        return signalPassFailure();
    if (failed(StateCheck(getOperation()).run()))
      signalPassFailure();
  }

  // KV caches must have room for the longest sequence of the module.
  LogicalResult checkLength() {
    Attribute attribute = getOperation()->getAttr(maxSequenceAttr);
    if (!attribute)
      return success();
    auto length = dyn_cast<IntegerAttr>(attribute);
    if (!length || !length.getType().isSignlessInteger(64) || length.getInt() < 1 || length.getInt() > maxTokens)
      return getOperation()->emitOpError()
             << "has the attribute " << maxSequenceAttr << " = " << attribute << ", expected 1 to 2^30 tokens as i64";
    for (auto cache : getOperation().getOps<KvCacheOp>())
      if (auto type = cast<KvCacheType>(cache.getType());
          type.holdsTokens() && type.getCapacity() < length.getInt() && !type.isRing())
        return cache.emitOpError() << "has room for " << type.getCapacity() << " tokens, fewer than the module's "
                                   << maxSequenceAttr << " = " << length.getInt();
    return success();
  }

  // Only sequences of a decoder are cut into segments: neither sources nor rings are supported.
  LogicalResult checkSegments() {
    if (!getOperation()->hasAttr(segmentedAttr))
      return success();
    if (!getOperation()->hasAttr(maxSequenceAttr))
      return getOperation()->emitOpError()
             << "has the attribute " << segmentedAttr << " without " << maxSequenceAttr << ", the tokens of a segment";
    for (auto cache : getOperation().getOps<KvCacheOp>()) {
      auto type = cast<KvCacheType>(cache.getType());
      if (type.isRing())
        return cache.emitOpError() << "is a ring, but the module is " << segmentedAttr;
      if (type.getRole() == KvCacheRole::source)
        return cache.emitOpError() << "holds sources, but the module is " << segmentedAttr;
      if (type.getRole() == KvCacheRole::recurrence)
        return cache.emitOpError() << "is the state of a recurrence, but the module is " << segmentedAttr;
    }
    WalkResult result = getOperation().walk([](AttentionOp op) -> WalkResult {
      if (op.getMask() != MaskKind::prefix)
        return WalkResult::advance();
      return op.emitOpError() << "has the mask prefix, but the module is " << segmentedAttr;
    });
    return failure(result.wasInterrupted());
  }

  // The positions of a rope with a table: those that its digits can represent, or any if the last one has a row.
  static int64_t positionsOf(RopeOp rope) {
    int64_t rows = cast<ShapedType>(rope.getTable().getType()).getDimSize(0), digits = rope.getDigits();
    auto last = static_cast<int64_t>(rope.getLast());
    if (digits > 0)
      return digits > maxTokens / digits ? maxTokens : digits * digits * digits;
    return last > 0 && last < rows ? maxTokens : rows;
  }

  // Tables need a row for every position, and biases a column for every distance between two of them.
  LogicalResult checkTables() {
    auto length = getOperation()->getAttrOfType<IntegerAttr>(maxSequenceAttr);
    auto expect = [&](Operation *op, StringRef what, int64_t positions) -> WalkResult {
      if (length && length.getInt() <= positions)
        return WalkResult::advance();
      return op->emitOpError() << "has a " << what << " for " << std::max<int64_t>(positions, 0)
                               << " positions, fewer than the module's " << maxSequenceAttr;
    };
    auto size = [](Value table, int64_t dimension) { return cast<ShapedType>(table.getType()).getDimSize(dimension); };
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (auto position = dyn_cast<PositionOp>(op))
        return expect(op, "table", size(position.getTable(), 0) - static_cast<int64_t>(position.getOffset()));
      if (auto rope = dyn_cast<RopeOp>(op); rope && rope.getTable())
        return expect(op, "table", positionsOf(rope));
      if (auto attention = dyn_cast<AttentionOp>(op); attention && attention.getBias())
        return expect(op, "bias",
                      attention.getAbsolute() ? size(attention.getBias(), 1) : size(attention.getBias(), 1) / 2 + 1);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

}  // namespace
