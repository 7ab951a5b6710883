// SPDX-License-Identifier: Apache-2.0
// insert-barriers: puts a barrier where data crosses threads.
//
// A kernel needs a barrier if, since the last one, another kernel wrote what it reads, or touched what it writes, with
// another division of the work. Two kernels divided by rows need none, since a thread reads only rows that it wrote;
// nor what a thread wrote into memory of its own. Through a state rows do meet: attention reads what the rows before it
// stored. There two kernels divided by heads need none, since the heads are the state's; the heads of other memory are
// counted and dealt differently by every attention.
//
// The step may be divided by rows or not (kernel.token_parallel), so the question is asked twice; a barrier that only
// the other division needs is marked unless_token_parallel. Where workers claim every task, as workgroups of a GPU do,
// nothing is found by whom it was left, and memory of a worker's own is like any other. A block begins with a barrier
// always: it runs again for the next layer, in the same memory.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/DynamicSchedule.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
using kernel::Share;

namespace {

// One touch of a buffer or state by a kernel. Two handles may be the same state, so all states count as one memory,
// whose value is null.
struct Access {
  Value memory;
  Share share;
  bool write;
  std::optional<int64_t> output;  // whose rows it has, if not those of the step

  bool isState() const { return !memory; }
};

// What a call of a kernel touches, seen from the caller.
SmallVector<Access> accessesOf(func::CallOp call, func::FuncOp callee, bool claims) {
  kernel::TasksOp tasks = kernel::getTasks(callee);
  kernel::Share share = tasks.getShare();
  Operation *piece = tasks.getComputeOp();
  std::optional<int64_t> output = kernel::getOutputIndex(call.getOperands());
  SmallVector<Access> accesses;
  for (OpOperand &operand : piece->getOpOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    if (!argument || isa<kernel::StepType>(argument.getType()))
      continue;
    if (isa<talc::KvCacheType>(argument.getType())) {
      accesses.push_back({Value(), share, kernel::writes(piece, operand), output});
      continue;
    }
    Value memory = kernel::getBaseBuffer(call.getOperand(argument.getArgNumber()));
    Operation *definition = memory.getDefiningOp();
    bool isPrivate = !claims && definition && definition->hasAttr(kernel::perThreadAttr);
    if (!isPrivate && !(definition && isa<kernel::WeightOp>(definition)))
      accesses.push_back({memory, share, kernel::writes(piece, operand), output});
  }
  return accesses;
}

// Whether a thread finds by itself what `before` left and `after` needs.
bool isLocal(const Access &before, const Access &after, bool byRows) {
  auto resolved = [&](Share share) {
    return share == Share::adaptive ? (byRows ? Share::rows : Share::columns) : share;
  };
  Share share = resolved(before.share);
  if (share != resolved(after.share) || before.output != after.output)
    return false;
  return before.isState() ? share == Share::heads : share == Share::rows;
}

// The touches since the last barrier, for one way to divide the step.
struct Pending {
  bool byRows, claims;
  SmallVector<Access> accesses;

  bool conflictsWith(ArrayRef<Access> next) const {
    return llvm::any_of(next, [&](const Access &after) {
      return llvm::any_of(accesses, [&](const Access &before) {
        return before.memory == after.memory && (before.write || after.write) &&
               (claims || !isLocal(before, after, byRows));
      });
    });
  }
};

struct InsertBarriers : talc::impl::InsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    claims = getOperation()->hasAttr(kernel::dynamicScheduleAttr);
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernel::kernelOpAttr) && !function.isExternal())
        separate(function, symbols);
  }

  static void explain(func::CallOp call, bool first, bool always) {
    constexpr talc::PassRemarks remarks("bufferize", "insert-barriers");
    remarks.did(call, [&] {
      StringRef when = always ? "" : " unless the step is divided by rows";
      StringRef why = first ? "a block runs again in the same memory" : "it meets what other workers touched";
      return ("a barrier before " + call.getCallee() + when + ": " + why).str();
    });
  }

  void separate(func::FuncOp function, SymbolTable &symbols) {
    Pending columns{false, claims, {}}, rows{true, claims, {}};
    if (claims)
      function->setAttr(kernel::dynamicScheduleAttr, UnitAttr::get(&getContext()));
    bool first = !function->hasAttr(talc::entryAttr);
    for (auto call : llvm::to_vector(function.front().getOps<func::CallOp>())) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!kernel::getTasks(callee)) {
        // A block begins with a barrier, and leaves its result in an unknown division.
        columns.accesses.clear();
        rows.accesses.clear();
        first = true;
        continue;
      }
      SmallVector<Access> accesses = accessesOf(call, callee, claims);
      bool always = first || rows.conflictsWith(accesses), sometimes = columns.conflictsWith(accesses);
      if (always || sometimes) {
        OpBuilder builder(call);
        kernel::BarrierOp::create(builder, call.getLoc(), function.getArgument(0), /*unless_token_parallel=*/!always);
        explain(call, first, always);
        columns.accesses.clear();
        if (always)
          rows.accesses.clear();
      }
      first = false;
      columns.accesses.append(accesses);
      rows.accesses.append(accesses);
    }
  }

  bool claims = false;
};

}  // namespace
