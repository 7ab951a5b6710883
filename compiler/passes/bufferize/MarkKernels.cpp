// SPDX-License-Identifier: Apache-2.0
// mark-kernels: lists the costs of every call of a kernel, and marks where the call ends.
//
//   call @norm_0(%step, ...)   ->   call @norm_0(%step, ...); kernel.mark %step 7
//
// Entry 7 of `talc.kernels` then describes the call. There is an entry for each call, not for each kernel, since one
// call may compute all tokens of the step and another one only wanted tokens. A call in a block counts as often as the
// block is called in a step.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_MARKKERNELS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
namespace keys = talc::kernelKeys;

// The name that reports give to the rows of a kernel.
static StringRef rowMeaning(func::CallOp call) {
  static constexpr StringLiteral names[] = {"outputs", "outputs 1"};
  auto output = kernel::getOutputIndex(call.getOperands());
  return output ? names[std::min<int64_t>(*output, 1)] : "tokens";
}

static std::string shapeText(kernel::ComputeOpInterface op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  op.printShapes(out);
  return text;
}

// The format of the quantized activations that an op multiplies, its first operand; empty if there are none.
static StringRef quantizedFormat(kernel::ComputeOpInterface op, const kernel::OpCosts &costs) {
  for (Value data : op->getOperands())
    if (auto type = dyn_cast<ShapedType>(data.getType()))
      return costs.operations.perRow > 0 && type.getRank() == 2 && talc::isQuantizedActivation(type.getElementType())
                 ? StringRef(talc::elementFormat(type).name)
                 : StringRef();
  return {};
}

// The weights and KV caches that a call takes.
static std::string storedNames(func::CallOp call) {
  SmallVector<std::string> names;
  for (Value operand : call.getOperands())
    if (std::string name = talc::storedName(operand); !name.empty() && !llvm::is_contained(names, name))
      names.push_back(std::move(name));
  return llvm::join(names, ", ");
}

namespace {

struct MarkKernels : talc::impl::MarkKernelsBase<MarkKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<Attribute> entries;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernel::kernelOpAttr))
        continue;
      int64_t calls = callsPerStep(function);
      for (auto call : llvm::to_vector(function.getOps<func::CallOp>())) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!kernel::getTasks(callee))
          continue;
        OpBuilder builder(call->getBlock(), std::next(call->getIterator()));
        kernel::MarkOp::create(builder, call.getLoc(), function.getArgument(0), entries.size());
        entries.push_back(describe(call, callee, calls));
      }
    }
    talc::PassRemarks("bufferize", "mark-kernels").did(getOperation(), [&] {
      return llvm::formatv("{0} calls of kernels; talc bench shows the costs of each", entries.size());
    });
    getOperation()->setAttr(talc::kernelsAttr, ArrayAttr::get(&getContext(), entries));
  }

  // The number of times that a function runs in a step. Functions are not recursive.
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
    kernel::TasksOp tasks = kernel::getTasks(callee);
    auto op = cast<kernel::ComputeOpInterface>(tasks.getComputeOp());
    kernel::OpCosts costs = op.getCosts();
    NamedAttrList entry;
    auto add = [&](StringRef name, Attribute value) { entry.append(name, value); };
    auto count = [&](StringRef name, int64_t value) { add(name, b.getI64IntegerAttr(value)); };
    add(keys::name, b.getStringAttr(callee.getName()));
    add(keys::op, callee->getAttr(kernel::kernelOpAttr));
    if (Attribute name = call->getParentOfType<func::FuncOp>()->getAttr(talc::entryNameAttr))
      add(keys::entry, name);
    add(keys::rows, b.getStringAttr(rowMeaning(call)));
    add(keys::shapes, b.getStringAttr(shapeText(op)));
    add(keys::fused, b.getStringAttr(op.getFused()));
    if (std::string stored = storedNames(call); !stored.empty())
      add(keys::stored, b.getStringAttr(stored));
    add(keys::share, b.getStringAttr(kernel::stringifyShare(tasks.getShare())));
    if (StringRef format = quantizedFormat(op, costs); !format.empty())
      add(keys::quantized, b.getStringAttr(format));
    count(keys::calls, calls);
    count(keys::operationsPerRow, costs.operations.perRow);
    count(keys::operationsPerPair, costs.operations.perPair);
    count(keys::storedBytesPerCall, costs.stored.perCall);
    count(keys::storedBytesPerRow, costs.stored.perRow);
    count(keys::storedBytesPerKey, costs.stored.perKey);
    count(keys::passedBytesPerRow, costs.passed.perRow);
    op.addFacts(entry);
    return entry.getDictionary(&getContext());
  }
};

}  // namespace
