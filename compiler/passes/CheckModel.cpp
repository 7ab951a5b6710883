// SPDX-License-Identifier: Apache-2.0
// check-model: what no operation's verifier can see, because it follows from others or from the module.
//
// A type says that a value has `?` rows, but not which: the step's, those that are wanted for a result, or keys. What
// reads the sequences' borders finds its rows by their numbers in the step, so it must get all of them.
#include "compiler/passes/Passes.h"
#include "dialects/talc/LogitParts.h"
#include "dialects/talc/TalcDialect.h"
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

// Which rows a value has.
struct Rows {
  enum Kind { Step, Wanted, Keys, None } kind;
  int64_t output = 0;

  bool operator==(const Rows &other) const { return kind == other.kind && output == other.output; }
  bool operator!=(const Rows &other) const { return !(*this == other); }

  std::string text() const {
    static constexpr llvm::StringLiteral names[] = {"the rows of the step", "rows wanted for the result ", "keys",
                                                    "a weight"};
    return names[kind].str() + (kind == Wanted ? std::to_string(output) : "");
  }
};

// Follows rows through a function.
class RowCheck {
public:
  RowCheck(func::FuncOp function) : function(function) {
    auto entry = function->getAttrOfType<StringAttr>(entryNameAttr);
    count = entry && entry.getValue() == decodeEntry ? 1 : ShapedType::kDynamic;
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
  // (ids, sequences) -> activations...
  LogicalResult checkEntry() {
    auto ids = RankedTensorType::get({count}, IntegerType::get(function.getContext(), 32));
    auto isResult = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getRank() == 2 && tensor.getElementType().isF32() && tensor.getDimSize(0) == count &&
             tensor.getDimSize(1) > 0;
    };
    if (function.getArgumentTypes() != ArrayRef<Type>{ids, SequencesType::get(function.getContext())} ||
        !llvm::all_of(function.getResultTypes(), isResult))
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
        .Case([&](RopeOp op) {
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
        .Case([&](SelectOp op) { return checkSelect(op); })
        .Case([&](func::CallOp op) { return checkCall(op); })
        .Case([&](func::ReturnOp op) { return checkReturn(op); })
        .Default([](Operation *) { return success(); });
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

  // A ring has what a window sees, and beside it what is kept.
  static LogicalResult checkRing(AttentionOp op) {
    auto read = op.getKeys().getDefiningOp<KvReadOp>();
    KvCacheType state = read ? cast<KvCacheType>(read.getCache().getType()) : KvCacheType();
    int64_t window = op.getWindow(), kept = op.getSinkTokens(), held = state ? state.getSinkTokens() : 0;
    if (kept != held)
      return op.emitOpError() << "sees " << kept << " kept tokens of a state that keeps " << held;
    if (!state || !state.isRing() || (op.getMask() == MaskKind::causal && window > 0 && window <= state.getWindow()))
      return success();
    return op.emitOpError() << "reads a ring, expected the mask causal and a window of 1 to " << state.getWindow();
  }

  LogicalResult checkMemory(MemoryOp op) {
    for (Value value : {op.getLocal(), op.getQueries(), op.getKeys(), op.getValues()})
      if (failed(expect(op, value)))
        return failure();
    return yields(op.getResult(), {Rows::Step});
  }

  LogicalResult checkSelect(SelectOp op) {
    auto output = static_cast<int64_t>(op.getOutput());
    if (function->hasAttr(entryAttr) && output >= function.getNumResults())
      return op.emitOpError() << "is for the result " << output << " of a model of " << function.getNumResults();
    return succeeded(expect(op, op.getX())) ? yields(op.getResult(), {Rows::Wanted, output}) : failure();
  }

  // A block takes and yields the rows of all tokens.
  LogicalResult checkCall(func::CallOp op) {
    for (Value operand : op.getOperands())
      if (of(operand) != Rows{Rows::None} && failed(expect(op, operand)))
        return failure();
    for (Value result : op.getResults())
      if (failed(yields(result, {Rows::Step})))
        return failure();
    return success();
  }

  // The caller gets the rows that it wants of each result: selected here, or else behind.
  LogicalResult checkReturn(func::ReturnOp op) {
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      bool selected = function->hasAttr(entryAttr) && of(value) == Rows{Rows::Wanted, static_cast<int64_t>(i)};
      if (!selected && failed(expect(op, value)))
        return failure();
    }
    return success();
  }

  Rows of(Value value) {
    if (auto found = rows.find(value); found != rows.end())
      return found->second;
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
  int64_t count;  // rows of a step, as types have it
  llvm::DenseMap<Value, Rows> rows;
};

// Follows what is appended to states, through calls, in the order of a sequence's first step, which finds them empty:
// what is read then must have been appended before in the same step, once. What a source left is appended by another
// entry.
class StateCheck {
public:
  explicit StateCheck(ModuleOp module) : symbols(module) {}

  LogicalResult run() {
    auto module = cast<ModuleOp>(symbols.getOp());
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(entryAttr) && failed(follow(function, {}, 0)))
        return failure();
    for (auto [state, read] : readSources)
      if (!appendedAnywhere.contains(state))
        return read->emitOpError() << "reads the state " << state << " of the source, to which nothing is appended";
    return success();
  }

private:
  using States = llvm::SmallVector<Attribute>;             // of a function's arguments; null for those that are none
  static constexpr int maxDepth = 16, maxCalls = 1 << 16;  // calls in circles are refused later

  LogicalResult follow(func::FuncOp function, const States &arguments, int depth) {
    if (depth == 0)
      appended.clear();
    llvm::DenseMap<Value, Attribute> states;
    for (auto [argument, state] : llvm::zip(function.getArguments(), arguments))
      states[argument] = state;
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      if (auto get = dyn_cast<GetKvCacheOp>(op))
        states[get.getResult()] = get.getNameAttr();
      if (auto append = dyn_cast<KvAppendOp>(op))
        return note(append, states.lookup(append.getCache()));
      if (auto read = dyn_cast<KvReadOp>(op))
        return check(read, states.lookup(read.getCache()));
      auto call = dyn_cast<func::CallOp>(op);
      auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
      if (!callee || depth == maxDepth || ++calls > maxCalls)
        return WalkResult::advance();
      States given;
      for (Value operand : call.getOperands())
        given.push_back(states.lookup(operand));
      return follow(callee, given, depth + 1);
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult note(KvAppendOp append, Attribute state) {
    bool isShared = cast<KvCacheType>(append.getCache().getType()).getRole() == KvCacheRole::step;  // by layers in turn
    if (state && !appended.insert(state).second && !isShared)
      return append.emitOpError() << "appends to the state " << state
                                  << " a second time: a step appends the rows of its tokens once";
    appendedAnywhere.insert(state);
    return success();
  }

  LogicalResult check(KvReadOp read, Attribute state) {
    if (!state || appended.contains(state))
      return success();
    if (cast<KvCacheType>(read.getCache().getType()).getRole() == KvCacheRole::source) {
      readSources.insert({state, read});
      return success();
    }
    return read.emitOpError() << "reads the state " << state
                              << " before anything is appended to it: in the first step "
                                 "of a sequence there is nothing to read";
  }

  SymbolTable symbols;
  int calls = 0;
  llvm::SmallDenseSet<Attribute> appended, appendedAnywhere;
  llvm::MapVector<Attribute, KvReadOp> readSources;
};

constexpr int64_t mostTokens = int64_t(1) << 30;  // of a sequence

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

  // A sequence may be as long as the module says; its states must have room for it.
  LogicalResult checkLength() {
    Attribute attribute = getOperation()->getAttr(maxSequenceAttr);
    if (!attribute)
      return success();
    auto length = dyn_cast<IntegerAttr>(attribute);
    if (!length || !length.getType().isSignlessInteger(64) || length.getInt() < 1 || length.getInt() > mostTokens)
      return getOperation()->emitOpError()
             << "has the attribute " << maxSequenceAttr << " = " << attribute << ", expected 1 to 2^30 tokens as i64";
    for (auto state : getOperation().getOps<KvCacheOp>())
      if (auto type = cast<KvCacheType>(state.getType()); type.getCapacity() < length.getInt() && !type.isRing())
        return state.emitOpError() << "has room for " << type.getCapacity() << " tokens, fewer than the module's "
                                   << maxSequenceAttr << " = " << length.getInt();
    return success();
  }

  // Segments are those of a decoder's texts: a source is whole, and a state without end has no room for it.
  LogicalResult checkSegments() {
    if (!getOperation()->hasAttr(segmentedAttr))
      return success();
    if (!getOperation()->hasAttr(maxSequenceAttr))
      return getOperation()->emitOpError()
             << "has the attribute " << segmentedAttr << " without " << maxSequenceAttr << ", the tokens of a segment";
    for (auto state : getOperation().getOps<KvCacheOp>()) {
      auto type = cast<KvCacheType>(state.getType());
      if (type.isRing())
        return state.emitOpError() << "is a ring, but the module is " << segmentedAttr;
      if (type.getRole() == KvCacheRole::source)
        return state.emitOpError() << "holds sources, but the module is " << segmentedAttr;
    }
    WalkResult result = getOperation().walk([](AttentionOp op) -> WalkResult {
      if (op.getMask() != MaskKind::prefix)
        return WalkResult::advance();
      return op.emitOpError() << "has the mask prefix, but the module is " << segmentedAttr;
    });
    return failure(result.wasInterrupted());
  }

  // Of a rope with a table: as many as its digits can tell, or all if the last that counts has a row.
  static int64_t positionsOf(RopeOp rope) {
    int64_t rows = cast<ShapedType>(rope.getTable().getType()).getDimSize(0), digits = rope.getDigits();
    auto last = static_cast<int64_t>(rope.getLast());
    if (digits > 0)
      return digits > mostTokens / digits ? mostTokens : digits * digits * digits;
    return last > 0 && last < rows ? mostTokens : rows;
  }

  // Tables have a row for every position, and biases a column for every distance between two of them.
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
