// SPDX-License-Identifier: Apache-2.0
// mark-kernels: lists every place that calls a kernel with what it costs, and marks where the call ends.
//
//   call @norm_0(%step, ...)   ->   call @norm_0(%step, ...); kernel.mark %step 7
//
// Entry 7 of `talc.kernels` then says what was called. It is an entry of the place, not of the kernel: the same kernel
// may treat the rows of the step at one place and the rows of the results at another. A call in a block counts as
// often as the block is called in a step.
#include "compiler/passes/Passes.h"
#include "compiler/passes/bufferize/KernelCosts.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_MARKKERNELS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

// What the rows of a kernel are, for reports.
static StringRef rowsOf(func::CallOp call) {
  static constexpr StringLiteral names[] = {"outputs", "outputs 1"};
  for (Value operand : call.getOperands())
    if (auto output = kernel::outputOf(rootOf(operand)))
      return names[std::min<int64_t>(*output, 1)];
  return "tokens";
}

namespace {

struct MarkKernels : talc::impl::MarkKernelsBase<MarkKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<Attribute> entries;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernel::kernelAttr))
        continue;
      int64_t calls = callsPerStep(function);
      for (auto call : llvm::to_vector(function.getOps<func::CallOp>())) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!callee->hasAttr(kernel::kernelAttr))
          continue;
        OpBuilder builder(call->getBlock(), std::next(call->getIterator()));
        kernel::MarkOp::create(builder, call.getLoc(), function.getArgument(0), entries.size());
        entries.push_back(describe(call, callee, calls));
      }
    }
    getOperation()->setAttr(talc::kernelsAttr, ArrayAttr::get(&getContext(), entries));
  }

  // How often a function runs in a step; calls form no cycle.
  int64_t callsPerStep(func::FuncOp function) {
    if (function->hasAttr(talc::entryAttr))
      return 1;
    int64_t calls = 0;
    for (auto caller : getOperation().getOps<func::FuncOp>())
      for (auto call : caller.getOps<func::CallOp>())
        if (call.getCallee() == function.getName())
          calls += callsPerStep(caller);
    return calls;
  }

  DictionaryAttr describe(func::CallOp call, func::FuncOp callee, int64_t calls) {
    Builder b(&getContext());
    Operation *piece = callee.front().getTerminator()->getPrevNode();
    talc::KernelCosts costs = talc::costsOf(piece);
    SmallVector<NamedAttribute> entry;
    auto add = [&](StringRef name, Attribute value) { entry.push_back(b.getNamedAttr(name, value)); };
    auto count = [&](StringRef name, int64_t value) { add(name, b.getI64IntegerAttr(value)); };
    add("name", b.getStringAttr(callee.getName()));
    add("piece", callee->getAttr(kernel::kernelAttr));
    if (Attribute phase = call->getParentOfType<func::FuncOp>()->getAttr(talc::phaseAttr))
      add("phase", phase);
    add("rows", b.getStringAttr(rowsOf(call)));
    add("shapes", b.getStringAttr(talc::shapesOf(piece)));
    add("fused", b.getStringAttr(talc::fusedInto(piece)));
    add("share", b.getStringAttr(
                     kernel::stringifyShare(callee->getAttrOfType<kernel::ShareAttr>(kernel::shareAttr).getValue())));
    count("calls", calls);
    count("operations_per_row", costs.operations.perRow);
    count("operations_per_pair", costs.operations.perPair);
    count("stored_bytes_per_call", costs.stored.perCall);
    count("stored_bytes_per_row", costs.stored.perRow);
    count("stored_bytes_per_key", costs.stored.perKey);
    count("passed_bytes_per_row", costs.passed.perRow);
    if (auto attention = dyn_cast<kernel::AttentionOp>(piece)) {
      add("mask", b.getStringAttr(talc::stringifyMaskKind(attention.getMask())));
      count("window", attention.getWindow());
      auto state = cast<talc::StateType>(attention.getState().getType());
      add("keys", b.getStringAttr(talc::stringifyStateRole(state.getRole())));
    }
    return b.getDictionaryAttr(entry);
  }
};

}  // namespace
