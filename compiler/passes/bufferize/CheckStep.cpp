// SPDX-License-Identifier: Apache-2.0
// check-step: proves of the finished step program that its barriers suffice. It knows nothing of how they were chosen.
//
// A step is walked as workers run it: blocks are entered at their calls, and every call of a kernel is an event that
// touches places of planned memory.
//
//   event      norm  ----barrier----  matmul  append  ----barrier----  attention
//   arena      writes [0, 512 rows)   reads it
//   state                                       writes                   reads
//
// Two events meet if their places overlap and one of them writes. Then there must be a barrier between them, or no
// worker touches there what another one does: both have the same rows at the same place and are divided by rows, or are
// divided by the heads of a state. What is read must be what was written last there, so that no buffer was given away
// too early. A barrier stands where every worker comes, which is why none waits for ever: in a function that all of
// them run, outside of kernels, loops and conditions.
//
// A step may be divided by rows or not (kernel.token_parallel), so both are walked. Where workers claim every task, as
// the workgroups of a GPU do, divisions say nothing and memory of a worker's own is like any other: there is one walk,
// in which no two events are apart. Single launches wait behind every piece, and need less than that.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/DynamicSchedule.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/ModuleKeys.h"

#include <limits>

namespace talc {
#define GEN_PASS_DEF_CHECKSTEP
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
using kernel::Share;

namespace {

// perRow * rows of the step + fixed, in bytes.
struct Offset {
  int64_t perRow = 0, fixed = 0;
  bool operator==(const Offset &other) const { return perRow == other.perRow && fixed == other.fixed; }
  // However many rows there are; at least one.
  bool isAtMost(const Offset &other) const {
    return perRow <= other.perRow && perRow + fixed <= other.perRow + other.fixed;
  }
};

// Bytes of the arena, or a whole state or result.
struct Place {
  Attribute object;  // names the state or result; null in the arena
  Offset begin, end;
  bool isPrivate = false;         // every worker has it for itself
  std::optional<int64_t> output;  // whose rows it has, if not those of the step

  bool operator==(const Place &other) const {
    return object == other.object && begin == other.begin && end == other.end && output == other.output;
  }
  bool overlaps(const Place &other) const {
    return object == other.object && !end.isAtMost(other.begin) && !other.end.isAtMost(begin);
  }
};

struct Touch {
  Operation *call;
  StringRef kernel;
  Place place;
  Share share;
  std::optional<int64_t> output;  // whose rows the workers divide
  bool write;
};

// ---- Places

constexpr int64_t unbounded = std::numeric_limits<int64_t>::max() / 4;

Place placeOf(kernel::ArenaOp arena) {
  MemRefType type = arena.getType();
  Place place;
  place.begin = place.end = {static_cast<int64_t>(arena.getPerToken()), static_cast<int64_t>(arena.getFixed())};
  place.isPrivate = arena.getPerThread() > 0;
  place.output = kernel::getOutputIndex(arena.getResult());
  // There are never more rows than tokens.
  (type.hasStaticShape() ? place.end.fixed : place.end.perRow) += talc::storedBytes(type);
  return place;
}

Place placeOf(Attribute object, std::optional<int64_t> output = std::nullopt) {
  return {object, {}, {0, unbounded}, false, output};
}

using Places = DenseMap<Value, Place>;  // of the arguments of a block

// Nothing for a weight, which nobody writes.
FailureOr<std::optional<Place>> placeOf(Value value, const Places &arguments, func::CallOp call) {
  Value root = kernel::getBaseBuffer(value);
  if (auto known = arguments.find(root); known != arguments.end())
    return std::optional(known->second);
  Operation *definition = root.getDefiningOp();
  if (isa_and_nonnull<kernel::WeightOp>(definition))
    return std::optional<Place>();
  if (auto arena = dyn_cast_or_null<kernel::ArenaOp>(definition))
    return std::optional(placeOf(arena));
  if (auto state = dyn_cast_or_null<kernel::KvCacheOp>(definition))
    return std::optional(placeOf(state.getNameAttr()));
  if (auto output = dyn_cast_or_null<kernel::OutputOp>(definition))
    return std::optional(placeOf(output.getOutputAttr(), output.getOutput()));
  return call.emitOpError("touches memory whose place is not known; plan-memory gives it one");
}

bool isMemory(Value value) {
  return isa<MemRefType, talc::KvCacheType>(value.getType());
}

// ---- The walk

// How workers come to their tasks.
struct Workers {
  bool byRows, claim;

  StringRef description() const {
    return claim ? "where workers claim tasks" : byRows ? "in a step divided by rows" : "in a step not divided by rows";
  }
};

// Whether no worker touches there what another one does.
bool isApart(const Touch &before, const Touch &after, Workers workers) {
  if (workers.claim)
    return false;
  auto resolved = [&](Share share) {
    return share == Share::adaptive ? (workers.byRows ? Share::rows : Share::columns) : share;
  };
  if (before.place.isPrivate && after.place.isPrivate)
    return true;
  const Share share = resolved(before.share);
  if (share != resolved(after.share) || before.output != after.output)
    return false;
  return isa_and_nonnull<FlatSymbolRefAttr>(before.place.object) ? share == Share::heads
                                                                 : share == Share::rows && before.place == after.place;
}

class Walk {
public:
  Walk(SymbolTable &symbols, Workers workers) : symbols(symbols), workers(workers) {}

  LogicalResult enter(func::FuncOp function, const Places &arguments) {
    for (Operation &op : function.front()) {
      if (auto barrier = dyn_cast<kernel::BarrierOp>(op)) {
        if (!(workers.byRows || workers.claim) || !barrier.getUnlessTokenParallel())
          unsettled.clear();
        continue;
      }
      auto call = dyn_cast<func::CallOp>(op);
      if (call && failed(enterCall(call, arguments)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult enterCall(func::CallOp call, const Places &arguments) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (kernel::TasksOp tasks = kernel::getTasks(callee))
      return run(call, tasks, arguments);
    Places inside;
    for (auto [operand, argument] : llvm::zip(call.getOperands(), callee.getArguments())) {
      if (!isMemory(operand))
        continue;
      FailureOr<std::optional<Place>> place = placeOf(operand, arguments, call);
      if (failed(place))
        return failure();
      if (*place)
        inside[argument] = **place;
      else
        constants.insert(argument);
    }
    return enter(callee, inside);
  }

  LogicalResult run(func::CallOp call, kernel::TasksOp tasks, const Places &arguments) {
    Operation *piece = tasks.getComputeOp();
    SmallVector<Touch> touches;
    std::optional<int64_t> output;
    for (OpOperand &operand : piece->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand.get());
      if (!argument || !isMemory(argument))
        continue;
      Value value = call.getOperand(argument.getArgNumber());
      if (constants.contains(kernel::getBaseBuffer(value)))
        continue;
      FailureOr<std::optional<Place>> place = placeOf(value, arguments, call);
      if (failed(place))
        return failure();
      if (*place)
        touches.push_back({call, call.getCallee(), **place, tasks.getShare(), {}, kernel::writes(piece, operand)});
    }
    for (const Touch &touch : touches)
      output = touch.place.output ? touch.place.output : output;
    for (Touch &touch : touches)
      touch.output = output;
    return happen(touches);
  }

  LogicalResult happen(ArrayRef<Touch> touches) {
    for (const Touch &touch : touches)
      if (failed(checkMeetings(touch)) || (!touch.write && failed(checkValue(touch))))
        return failure();
    unsettled.append(touches.begin(), touches.end());
    llvm::copy_if(touches, std::back_inserter(written), [](const Touch &touch) { return touch.write; });
    return success();
  }

  LogicalResult checkMeetings(const Touch &touch) const {
    for (const Touch &before : unsettled)
      if ((before.write || touch.write) && before.place.overlaps(touch.place) && !isApart(before, touch, workers))
        return touch.call->emitOpError() << verb(touch) << " memory that @" << before.kernel << " " << verb(before)
                                         << " on other workers, without a barrier between them "
                                         << workers.description();
    return success();
  }

  // States and results outlive a step.
  LogicalResult checkValue(const Touch &touch) const {
    if (touch.place.object)
      return success();
    for (const Touch &before : llvm::reverse(written)) {
      if (before.place == touch.place)
        return success();
      if (before.place.overlaps(touch.place))
        return touch.call->emitOpError() << "reads memory that @" << before.kernel << " gave other contents";
    }
    return touch.call->emitOpError("reads memory that nothing wrote in this step");
  }

  static StringRef verb(const Touch &touch) { return touch.write ? "writes" : "reads"; }

  SymbolTable &symbols;
  const Workers workers;
  DenseSet<Value> constants;     // arguments of blocks that are weights
  SmallVector<Touch> unsettled;  // since the last barrier
  SmallVector<Touch> written;    // in this step
};

struct CheckStep : talc::impl::CheckStepBase<CheckStep> {
  void runOnOperation() override {
    const bool claims = getOperation()->hasAttr(kernel::dynamicScheduleAttr);
    if (failed(checkWhereBarriersStand()))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (bool byRows : {false, true})
        if (function->hasAttr(talc::entryAttr) && (!byRows || !claims) &&
            failed(Walk(symbols, {byRows, claims}).enter(function, Places())))
          return signalPassFailure();
  }

  LogicalResult checkWhereBarriersStand() {
    WalkResult result = getOperation().walk([](kernel::BarrierOp barrier) -> WalkResult {
      auto function = dyn_cast<func::FuncOp>(barrier->getParentOp());
      if (function && !function->hasAttr(kernel::kernelOpAttr))
        return WalkResult::advance();
      return barrier.emitOpError("stands where not every worker comes; expected between the kernels of a step");
    });
    return failure(result.wasInterrupted());
  }
};

}  // namespace
