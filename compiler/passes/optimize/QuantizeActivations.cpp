// SPDX-License-Identifier: Apache-2.0
// quantize-activations: quantizes the inputs of matmuls with integer weights, and converts those of bf16 weights to
// bf16.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/QuantizedActivations.h"

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
    quantized.clear();
    getOperation().walk([&](Operation *op) {
      if (auto linear = dyn_cast<LinearOp>(op))
        visit(op, linear.getXMutable(), linear.getWeight(), linear.getGroups());
      if (auto gated = dyn_cast<GatedLinearOp>(op))
        visit(op, gated.getXMutable(), gated.getWeight(), /*groups=*/1);
      if (auto experts = dyn_cast<ExpertsOp>(op)) {
        visit(op, experts.getXMutable(), experts.getGate(), /*groups=*/1);
        visitDown(experts);
      }
    });
  }

  void visit(Operation *op, OpOperand &x, Value weight, int64_t groups) {
    auto type = cast<RankedTensorType>(x.get().getType());
    if (isQuantizedActivation(type.getElementType()))
      return;
    bool varyWidely = isa_and_nonnull<GatedLinearOp, ActivationOp, MulOp>(x.get().getDefiningOp());
    // Each group has features of its own.
    if (Type element = elementFor(op, weight, type.getDimSize(1) / groups, varyWidely))
      x.set(quantizeTo(element, x.get(), op->getLoc()));
  }

  // The input of an expert's second matmul is not an SSA value; the op itself quantizes it.
  void visitDown(ExpertsOp op) {
    if (op.getRounding())
      return;
    int64_t features = cast<RankedTensorType>(op.getDown().getType()).getDimSize(1);
    if (Type element = elementFor(op, op.getDown(), features, /*varyWidely=*/true))
      op.setRounding(element);
  }

private:
  // The element type of a weight's activations (null: f32), and the number of features in a block.
  struct InputFormat {
    Type element;
    int64_t blockFeatures = 1;
    StringLiteral meaning = "";
  };

  // The element type for the features that a packed weight of `op` is multiplied by; null: they stay f32.
  Type elementFor(Operation *op, Value weight, int64_t features, bool varyWidely) {
    auto type = cast<RankedTensorType>(weight.getType());
    InputFormat format = inputFormat(type.getElementType(), features, varyWidely);
    if (type.getRank() != 3 || !format.element)
      return {};
    if (features % format.blockFeatures != 0) {
      remarks.declined(
          op, [&] { return llvm::formatv("{0}: the features of x are not whole blocks", storedName(weight)); });
      return {};
    }
    remarks.did(op, [&] { return llvm::formatv("{0} is multiplied as {1}", storedName(weight), format.meaning); });
    return format.element;
  }

  InputFormat inputFormat(Type weight, int64_t features, bool varyWidely) {
    if (const StorageFormat *sums = activationFormatFor(*getStorageFormat(weight), features, varyWidely))
      return {storedType(&getContext(), *sums), sums->jointValues(), "integers"};
    return bf16 && getStorageFormat(weight) == findStorageFormat("bf16") ? InputFormat{weight, 2, "pairs of bf16"}
                                                                         : InputFormat();
  }

  Value quantizeTo(Type element, Value x, Location loc) {
    Value &result = quantized[{x, element}];
    if (!result) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(x);
      result = QuantizeOp::create(builder, loc, cast<RankedTensorType>(x.getType()).clone(element), x);
    }
    return result;
  }

  llvm::DenseMap<std::pair<Value, Type>, Value> quantized;
};

}  // namespace
