// SPDX-License-Identifier: Apache-2.0
// check-step: proves that the barriers of the finished step program suffice. It does not depend on how they were
// chosen.
//
// A step is walked as workers run it: blocks are entered at their calls, and every call of a kernel is an event that
// accesses ranges of planned memory.
//
//   event      norm  ----barrier----  matmul  kv_append  ----barrier----  attention
//   arena      writes [0, 512 rows)   reads it
//   KV cache                                  writes                      reads
//
// Two events conflict if their ranges overlap and one of them writes. Then there must be a barrier between them, or no
// worker accesses what another one does: both have the same rows in the same range and are divided by rows, or are
// divided by the heads of a KV cache. A read must see the last write to its range, so that no buffer was reused too
// early. A barrier must be where every worker arrives, so that no worker waits for ever: in a function that all of them
// run, outside of kernels, loops and conditions.
//
// A step may be divided by tokens or not (kernel.token_parallel), so both are walked. If tasks are scheduled
// dynamically, as on GPUs, divisions do not matter and memory per worker is like any other: there is one walk, in which
// no two events are independent. Separate launches wait for each other, and need less than that.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/gradients/GradientOps.h"
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
  // For any number of rows, at least one.
  bool isAtMost(const Offset &other) const {
    return perRow <= other.perRow && perRow + fixed <= other.perRow + other.fixed;
  }
};

// A range of bytes of the arena, or a whole KV cache, result or gradient.
struct MemoryRange {
  // A symbol is a KV cache, a number a result, a string the weight of a gradient, and null the arena.
  Attribute object;
  Offset begin, end;
  bool isPrivate = false;         // every worker has its own
  std::optional<int64_t> output;  // the result whose wanted tokens it has, if it does not have all of the step

  bool operator==(const MemoryRange &other) const {
    return object == other.object && begin == other.begin && end == other.end && output == other.output;
  }
  bool overlaps(const MemoryRange &other) const {
    return object == other.object && !end.isAtMost(other.begin) && !other.end.isAtMost(begin);
  }
};

struct MemoryAccess {
  Operation *call;
  StringRef kernel;
  MemoryRange range;
  Share share;
  std::optional<int64_t> output;  // the result whose wanted tokens the workers divide
  bool write;
};

// ---- MemoryRanges

constexpr int64_t unbounded = std::numeric_limits<int64_t>::max() / 4;

MemoryRange getRange(kernel::ArenaOp arena) {
  MemRefType type = arena.getType();
  MemoryRange range;
  range.begin = range.end = {static_cast<int64_t>(arena.getPerToken()), static_cast<int64_t>(arena.getFixed())};
  range.isPrivate = arena.getPerWorker() > 0;
  range.output = kernel::getOutputIndex(arena.getResult());
  // There are at most as many rows as tokens.
  (type.hasStaticShape() ? range.end.fixed : range.end.perRow) += talc::storedBytes(type);
  return range;
}

MemoryRange getRange(Attribute object, std::optional<int64_t> output = std::nullopt) {
  return {object, {}, {0, unbounded}, false, output};
}

using MemoryRanges = DenseMap<Value, MemoryRange>;  // of the arguments of a block

// None for a weight, which is never written.
FailureOr<std::optional<MemoryRange>> getRange(Value value, const MemoryRanges &arguments, func::CallOp call) {
  Value root = kernel::getBaseBuffer(value);
  if (auto it = arguments.find(root); it != arguments.end())
    return std::optional(it->second);
  Operation *definition = root.getDefiningOp();
  if (isa_and_nonnull<kernel::WeightOp>(definition))
    return std::optional<MemoryRange>();
  if (auto arena = dyn_cast_or_null<kernel::ArenaOp>(definition))
    return std::optional(getRange(arena));
  if (auto cache = dyn_cast_or_null<kernel::KvCacheOp>(definition))
    return std::optional(getRange(cache.getNameAttr()));
  if (auto gradient = dyn_cast_or_null<kernel::GradientOp>(definition))
    return std::optional(getRange(gradient.getNameAttr().getAttr()));
  if (auto output = dyn_cast_or_null<kernel::OutputOp>(definition))
    return std::optional(getRange(output.getOutputAttr(), output.getOutput()));
  return call.emitOpError("accesses memory whose offset is not known; plan-memory assigns one");
}

bool isMemory(Value value) {
  return isa<MemRefType, talc::KvCacheType>(value.getType());
}

// ---- The walk

// The division of an op's tasks among workers.
struct Workers {
  bool byTokens, isDynamic;

  StringRef description() const {
    return isDynamic  ? "where tasks are scheduled dynamically"
           : byTokens ? "in a step divided by tokens"
                      : "in a step not divided by tokens";
  }
};

// Whether no worker accesses what another one does.
bool isIndependent(const MemoryAccess &before, const MemoryAccess &after, Workers workers) {
  if (workers.isDynamic)
    return false;
  auto resolved = [&](Share share) {
    return share == Share::adaptive ? (workers.byTokens ? Share::rows : Share::columns) : share;
  };
  if (before.range.isPrivate && after.range.isPrivate)
    return true;
  const Share share = resolved(before.share);
  if (share != resolved(after.share) || before.output != after.output)
    return false;
  return isa_and_nonnull<FlatSymbolRefAttr>(before.range.object) ? share == Share::heads
                                                                 : share == Share::rows && before.range == after.range;
}

class Walk {
public:
  Walk(SymbolTable &symbols, Workers workers) : symbols(symbols), workers(workers) {}

  LogicalResult enter(func::FuncOp function, const MemoryRanges &arguments) {
    for (Operation &op : function.front()) {
      if (auto barrier = dyn_cast<kernel::BarrierOp>(op)) {
        if (!(workers.byTokens || workers.isDynamic) || !barrier.getUnlessTokenParallel())
          sinceBarrier.clear();
        continue;
      }
      auto call = dyn_cast<func::CallOp>(op);
      if (call && failed(enterCall(call, arguments)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult enterCall(func::CallOp call, const MemoryRanges &arguments) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (kernel::TasksOp tasks = kernel::getTasks(callee))
      return run(call, tasks, arguments);
    MemoryRanges inside;
    for (auto [operand, argument] : llvm::zip(call.getOperands(), callee.getArguments())) {
      if (!isMemory(operand))
        continue;
      FailureOr<std::optional<MemoryRange>> range = getRange(operand, arguments, call);
      if (failed(range))
        return failure();
      if (*range)
        inside[argument] = **range;
      else
        constants.insert(argument);
    }
    return enter(callee, inside);
  }

  LogicalResult run(func::CallOp call, kernel::TasksOp tasks, const MemoryRanges &arguments) {
    Operation *op = tasks.getComputeOp();
    SmallVector<MemoryAccess> accesses;
    std::optional<int64_t> output;
    for (OpOperand &operand : op->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand.get());
      if (!argument || !isMemory(argument))
        continue;
      Value value = call.getOperand(argument.getArgNumber());
      if (constants.contains(kernel::getBaseBuffer(value)))
        continue;
      FailureOr<std::optional<MemoryRange>> range = getRange(value, arguments, call);
      if (failed(range))
        return failure();
      if (*range)
        accesses.push_back({call, call.getCallee(), **range, tasks.getShare(), {}, kernel::writes(op, operand)});
    }
    for (const MemoryAccess &access : accesses)
      if (access.write && access.range.output)
        output = access.range.output;
    for (MemoryAccess &access : accesses)
      access.output = output;
    return record(accesses);
  }

  LogicalResult record(ArrayRef<MemoryAccess> accesses) {
    for (const MemoryAccess &access : accesses)
      if (failed(checkConflicts(access)) || (!access.write && failed(checkContents(access))))
        return failure();
    sinceBarrier.append(accesses.begin(), accesses.end());
    llvm::copy_if(accesses, std::back_inserter(written), [](const MemoryAccess &access) { return access.write; });
    return success();
  }

  LogicalResult checkConflicts(const MemoryAccess &access) const {
    for (const MemoryAccess &before : sinceBarrier)
      if ((before.write || access.write) && before.range.overlaps(access.range) &&
          !isIndependent(before, access, workers))
        return access.call->emitOpError()
               << verb(access) << " memory that @" << before.kernel << " " << verb(before)
               << " on other workers, without a barrier between them " << workers.description();
    return success();
  }

  // KV caches, results and gradients outlive a step.
  LogicalResult checkContents(const MemoryAccess &access) const {
    if (access.range.object)
      return success();
    for (const MemoryAccess &before : llvm::reverse(written)) {
      if (before.range == access.range)
        return success();
      if (before.range.overlaps(access.range))
        return access.call->emitOpError() << "reads memory that @" << before.kernel << " has overwritten";
    }
    return access.call->emitOpError("reads memory that was not written in this step");
  }

  static StringRef verb(const MemoryAccess &access) { return access.write ? "writes" : "reads"; }

  SymbolTable &symbols;
  const Workers workers;
  DenseSet<Value> constants;               // arguments of blocks that are weights
  SmallVector<MemoryAccess> sinceBarrier;  // since the last barrier
  SmallVector<MemoryAccess> written;       // in this step
};

struct CheckStep : talc::impl::CheckStepBase<CheckStep> {
  void runOnOperation() override {
    const bool isDynamic = kernel::hasDynamicTasks(getOperation());
    if (failed(checkBarrierPlacement()))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (bool byTokens : {false, true})
        if (function->hasAttr(talc::entryAttr) && (!byTokens || !isDynamic) &&
            failed(Walk(symbols, {byTokens, isDynamic}).enter(function, MemoryRanges())))
          return signalPassFailure();
  }

  LogicalResult checkBarrierPlacement() {
    WalkResult result = getOperation().walk([](kernel::BarrierOp barrier) -> WalkResult {
      auto function = dyn_cast<func::FuncOp>(barrier->getParentOp());
      if (function && !function->hasAttr(kernel::kernelOpAttr))
        return WalkResult::advance();
      return barrier.emitOpError("is not reached by every worker; expected it between the kernels of a step");
    });
    return failure(result.wasInterrupted());
  }
};

}  // namespace
