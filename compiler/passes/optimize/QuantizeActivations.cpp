// SPDX-License-Identifier: Apache-2.0
// quantize-activations: what integers of weights are multiplied by becomes integers, too.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_QUANTIZEACTIVATIONS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "quantize-activations");

struct QuantizeActivations : talc::impl::QuantizeActivationsBase<QuantizeActivations> {
  void runOnOperation() override {
    rounded.clear();
    getOperation().walk([&](Operation *op) {
      if (auto linear = dyn_cast<LinearOp>(op))
        visit(op, linear.getXMutable(), linear.getWeight(), linear.getGroups());
      if (auto gated = dyn_cast<GatedLinearOp>(op))
        visit(op, gated.getXMutable(), gated.getWeight(), /*groups=*/1);
    });
  }

  void visit(Operation *op, OpOperand &x, Value weight, int64_t groups) {
    auto type = cast<RankedTensorType>(weight.getType());
    auto known = cast<RankedTensorType>(x.get().getType());
    if (type.getRank() != 3 || isRounded(known.getElementType()) || !elementFormat(type).integers)
      return;
    auto quantized = RankedTensorType::get(known.getShape(), roundedType());
    // Of groups, each has features of its own.
    if (quantized.getDimSize(1) % (groups * elementFormat(quantized).blockValues) != 0)
      return remarks.declined(
          op, [&] { return llvm::formatv("{0}: the features of x are no whole blocks", storedName(weight)); });
    Value &result = rounded[x.get()];
    if (!result) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfterValue(x.get());
      result = QuantizeOp::create(builder, op->getLoc(), quantized, x.get());
    }
    x.set(result);
    remarks.did(op, [&] { return llvm::formatv("{0} is multiplied as integers", storedName(weight)); });
  }

  Type roundedType() { return storedType(&getContext(), *formatNamed("q8_sums")); }

  llvm::DenseMap<Value, Value> rounded;
};

}  // namespace
