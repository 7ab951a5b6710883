// SPDX-License-Identifier: Apache-2.0
// tabulate-rope: gives every talc.rope its table of cosines and sines as a weight.
//
// Texts without end would need a table without end. For long sequences the table has the rotations of the digits of a
// position instead, and the rope composes them.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_TABULATEROPE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;

namespace {

struct TabulateRope : talc::impl::TabulateRopeBase<TabulateRope> {
  void runOnOperation() override {
    auto maxSequence = getOperation()->getAttrOfType<IntegerAttr>(talc::maxSequenceAttr);
    WalkResult result = getOperation().walk([&](Operation *op) {
      return llvm::TypeSwitch<Operation *, WalkResult>(op)
          .Case<talc::RopeOp, talc::RopeDgradOp>([&](auto rope) { return tabulate(rope, maxSequence); })
          .Default(WalkResult::advance());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  template <typename Rope> static WalkResult tabulate(Rope rope, IntegerAttr maxSequence) {
    if (rope.getTable())
      return WalkResult::advance();
    if (!maxSequence) {
      rope.emitOpError() << "needs the module's attribute " << talc::maxSequenceAttr;
      return WalkResult::interrupt();
    }
    addTable(rope, maxSequence.getInt());
    return WalkResult::advance();
  }

  // A position below 2^30 has three digits to this base.
  template <typename Rope> static void addTable(Rope rope, int64_t positions) {
    constexpr int64_t maxPositions = 1 << 20, base = 1 << 10;
    OpBuilder builder(rope);
    Attribute scaling = rope.getScaling().value_or(Attribute());
    int64_t digits = positions > maxPositions && !isa_and_nonnull<talc::DynamicScalingAttr>(scaling) ? base : 0;
    if (digits > 0) {
      positions = 3 * digits;
      rope.setDigits(digits);
    }
    if (int64_t last = rope.getLast(); last > 0)
      positions = digits > 0 ? positions : std::min(positions, last + 1);
    auto type = RankedTensorType::get({positions, static_cast<int64_t>(rope.getRotary())}, builder.getF32Type());
    auto recipe = talc::RotaryTableRecipeAttr::get(rope.getContext(), rope.getBase(), scaling, digits);
    auto table = talc::DeriveOp::create(builder, rope.getLoc(), type, recipe, ValueRange());
    rope.getTableMutable().assign(table);
    talc::PassRemarks("optimize", "tabulate-rope").did(rope, [&] {
      return llvm::formatv("cosines and sines of {0} features for {1} positions become a weight", type.getDimSize(1),
                           positions);
    });
  }
};

}  // namespace
