// SPDX-License-Identifier: Apache-2.0
// quantize-activations: what integers of weights are multiplied by becomes integers, too, and what bf16 is, bf16.
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
  using Base::Base;

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
    Type element = roundedFor(type.getElementType());
    if (type.getRank() != 3 || isRounded(known.getElementType()) || !element)
      return;
    // Of groups, each has features of its own.
    bool pairs = isa<FloatType>(element);
    int64_t features = pairs ? type.getDimSize(1) : known.getDimSize(1);
    if (features % (pairs ? 2 : groups * formatOf(element)->blockValues) != 0)
      return remarks.declined(
          op, [&] { return llvm::formatv("{0}: the features of x are no whole blocks", storedName(weight)); });
    x.set(roundedTo(element, x.get(), op->getLoc()));
    StringRef as = pairs ? "pairs of bf16" : "integers";
    remarks.did(op, [&] { return llvm::formatv("{0} is multiplied as {1}", storedName(weight), as); });
  }

private:
  // What a weight's values are multiplied by; null: f32.
  Type roundedFor(Type weight) {
    if (formatOf(weight)->integers)
      return storedType(&getContext(), *formatNamed("q8_sums"));
    return bf16 && formatOf(weight) == formatNamed("bf16") ? weight : Type();
  }

  Value roundedTo(Type element, Value x, Location loc) {
    Value &result = rounded[{x, element}];
    if (!result) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(x);
      result = QuantizeOp::create(builder, loc, cast<RankedTensorType>(x.getType()).clone(element), x);
    }
    return result;
  }

  llvm::DenseMap<std::pair<Value, Type>, Value> rounded;
};

}  // namespace
