// SPDX-License-Identifier: Apache-2.0
// fuse-gated-linear: fuses the two projections of a gated feed-forward layer and their product into one op.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/StorageTypes.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_FUSEGATEDLINEAR
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "fuse-gated-linear");

// The linear that makes `value`, if it has no bias, its weight is not packed, and `value` has one use.
LinearOp plainLinear(Value value) {
  auto linear = value.getDefiningOp<LinearOp>();
  if (!linear || !value.hasOneUse() || linear.getBias() || linear.getGroups() > 1)
    return {};
  return cast<RankedTensorType>(linear.getWeight().getType()).getRank() == 2 ? linear : LinearOp();
}

bool decline(MulOp mul, StringRef reason) {
  remarks.declined(mul, [&] { return ("a product with an activation is not fused: " + reason).str(); });
  return false;
}

// mul(activation(linear(x, gate)), linear(x, up))  ->  gated_linear(x, gate, up)
bool fuse(MulOp mul, Value activated, Value other, StorageTypes &storage) {
  auto activation = activated.getDefiningOp<ActivationOp>();
  if (!activation || !activated.hasOneUse())
    return false;
  LinearOp gate = plainLinear(activation.getX()), up = plainLinear(other);
  if (!gate || !up)
    return decline(mul, "a factor is not a projection without bias that has no other use");
  if (gate.getX() != up.getX() || gate.getWeight().getType() != up.getWeight().getType())
    return decline(mul, "the projections differ in their activations or in the type of their weights");
  if (storage.getType(gate.getWeight()) != storage.getType(up.getWeight()))
    return decline(mul, "the weights are stored in different formats");
  remarks.did(mul, [&] {
    return llvm::formatv("{0} and {1} become one gated linear with {2}", storedName(gate.getWeight()),
                         storedName(up.getWeight()), stringifyActivationKind(activation.getKind()));
  });
  OpBuilder builder(mul);
  Location loc = builder.getFusedLoc({mul.getLoc(), gate.getLoc(), activation.getLoc(), up.getLoc()});
  auto fused = GatedLinearOp::create(builder, loc, mul.getType(), activation.getKind(), gate.getX(), gate.getWeight(),
                                     up.getWeight());
  mul.replaceAllUsesWith(fused.getResult());
  mul.erase();
  activation.erase();
  gate.erase();
  up.erase();
  return true;
}

struct FuseGatedLinear : talc::impl::FuseGatedLinearBase<FuseGatedLinear> {
  void runOnOperation() override {
    StorageTypes storage(getOperation());
    SmallVector<MulOp> muls;
    getOperation().walk([&](MulOp mul) { muls.push_back(mul); });
    for (MulOp mul : muls)
      if (!fuse(mul, mul.getLhs(), mul.getRhs(), storage))
        fuse(mul, mul.getRhs(), mul.getLhs(), storage);
  }
};

}  // namespace
