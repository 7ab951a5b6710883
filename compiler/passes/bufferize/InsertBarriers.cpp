// SPDX-License-Identifier: Apache-2.0
// insert-barriers: inserts a barrier where data crosses workers.
//
// A kernel needs a barrier if, since the last one, another kernel wrote what it reads, or accessed what it writes, with
// another division of the work. Two kernels divided by rows do not need one, since a worker reads only rows that it
// wrote; nor does memory that every worker has for itself. Through a KV cache tokens do meet: attention reads the keys
// of earlier tokens. There two kernels divided by heads do not need a barrier, since both divide the heads of the
// cache. Other memory needs one even then, since attention ops divide its heads in different ways.
//
// The step may be divided by tokens or not (kernel.token_parallel), so both cases are analyzed; a barrier that only the
// second one needs is marked unless_token_parallel. If tasks are scheduled dynamically, as on GPUs, a worker does not
// find its own data again, and memory per worker is like any other. A block always begins with a barrier: it runs again
// for the next layer, in the same memory.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
using kernel::Share;

namespace {

// An access of a kernel to a buffer or KV cache. Two handles may be the same cache, so all caches count as one memory,
// whose value is null.
struct Access {
  Value memory;
  Share share;
  bool write;
  std::optional<int64_t> output;  // the result whose wanted tokens it has, if it does not have all of the step

  bool isKvCache() const { return !memory; }
};

// The wanted tokens that workers divide: those of what they write. A kernel may read rows of another kind, whichever
// worker they belong to.
std::optional<int64_t> getDividedOutput(func::CallOp call, Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    if (argument && isa<MemRefType>(argument.getType()) && kernel::writes(op, operand))
      return kernel::getOutputIndex(kernel::getBaseBuffer(call.getOperand(argument.getArgNumber())));
  }
  return std::nullopt;
}

// The accesses of a call of a kernel, as the caller sees them.
SmallVector<Access> getAccesses(func::CallOp call, func::FuncOp callee) {
  kernel::TasksOp tasks = kernel::getTasks(callee);
  kernel::Share share = tasks.getShare();
  Operation *op = tasks.getComputeOp();
  std::optional<int64_t> output = getDividedOutput(call, op);
  SmallVector<Access> accesses;
  for (OpOperand &operand : op->getOpOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    if (!argument || isa<kernel::StepType>(argument.getType()))
      continue;
    if (isa<talc::KvCacheType>(argument.getType())) {
      accesses.push_back({Value(), share, kernel::writes(op, operand), output});
      continue;
    }
    Value memory = kernel::getBaseBuffer(call.getOperand(argument.getArgNumber()));
    Operation *definition = memory.getDefiningOp();
    bool isPrivate = !tasks.getDynamic() && definition && definition->hasAttr(kernel::perWorkerAttr);
    if (!isPrivate && !(definition && isa<kernel::WeightOp>(definition)))
      accesses.push_back({memory, share, kernel::writes(op, operand), output});
  }
  return accesses;
}

// Whether every worker finds in its own data of `before` what `after` accesses.
bool isLocal(const Access &before, const Access &after, bool byTokens) {
  auto resolved = [&](Share share) {
    return share == Share::adaptive ? (byTokens ? Share::rows : Share::columns) : share;
  };
  Share share = resolved(before.share);
  if (share != resolved(after.share) || before.output != after.output)
    return false;
  return before.isKvCache() ? share == Share::heads : share == Share::rows;
}

// The accesses since the last barrier, for one way to divide the step.
struct Pending {
  bool byTokens, isDynamic;
  SmallVector<Access> accesses;

  bool conflictsWith(ArrayRef<Access> next) const {
    return llvm::any_of(next, [&](const Access &after) {
      return llvm::any_of(accesses, [&](const Access &before) {
        return before.memory == after.memory && (before.write || after.write) &&
               (isDynamic || !isLocal(before, after, byTokens));
      });
    });
  }
};

struct InsertBarriers : talc::impl::InsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    isDynamic = kernel::hasDynamicTasks(getOperation());
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernel::kernelOpAttr) && !function.isExternal())
        separate(function, symbols);
  }

  static void explain(func::CallOp call, bool first, bool always) {
    constexpr talc::PassRemarks remarks("bufferize", "insert-barriers");
    remarks.did(call, [&] {
      StringRef when = always ? "" : " unless the step is divided by tokens";
      StringRef why = first ? "a block runs again in the same memory" : "it accesses data of other workers";
      return ("a barrier before " + call.getCallee() + when + ": " + why).str();
    });
  }

  void separate(func::FuncOp function, SymbolTable &symbols) {
    Pending byColumns{false, isDynamic, {}}, byTokens{true, isDynamic, {}};
    if (isDynamic)
      function->setAttr(kernel::dynamicScheduleAttr, UnitAttr::get(&getContext()));
    bool first = !function->hasAttr(talc::entryAttr);
    for (auto call : llvm::to_vector(function.front().getOps<func::CallOp>())) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!kernel::getTasks(callee)) {
        // A block begins with a barrier, and the division of its result is not known.
        byColumns.accesses.clear();
        byTokens.accesses.clear();
        first = true;
        continue;
      }
      SmallVector<Access> accesses = getAccesses(call, callee);
      bool always = first || byTokens.conflictsWith(accesses), sometimes = byColumns.conflictsWith(accesses);
      if (always || sometimes) {
        OpBuilder builder(call);
        kernel::BarrierOp::create(builder, call.getLoc(), function.getArgument(0), /*unless_token_parallel=*/!always);
        explain(call, first, always);
        byColumns.accesses.clear();
        if (always)
          byTokens.accesses.clear();
      }
      first = false;
      byColumns.accesses.append(accesses);
      byTokens.accesses.append(accesses);
    }
  }

  bool isDynamic = false;
};

}  // namespace
