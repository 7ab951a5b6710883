// SPDX-License-Identifier: Apache-2.0
// merge-projections: merges projections of the same activations into one wider projection and slices of its result.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/StorageTypes.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_MERGEPROJECTIONS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "merge-projections");

using Group = SmallVector<LinearOp>;

RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

// A weight with other uses (a tied embedding) would be stored twice if it became part of a merged one.
bool mayMerge(LinearOp linear) {
  RankedTensorType weight = tensorType(linear.getWeight());
  if (weight.getRank() != 2 || !weight.hasStaticShape() || linear.getGroups() > 1)
    return false;
  if (!linear.getWeight().hasOneUse())
    remarks.declined(linear, [&] { return storedName(linear.getWeight()) + " is not merged: it has other uses"; });
  return linear.getWeight().hasOneUse();
}

// Whether a weight is defined before `user`, or can be moved there because it depends on nothing.
bool makeAvailable(Value weight, Operation *user) {
  Operation *definition = weight ? weight.getDefiningOp() : nullptr;
  if (!definition || definition->getBlock() != user->getBlock() || definition->isBeforeInBlock(user))
    return true;
  if (!isa<GetWeightOp>(definition))
    return false;
  definition->moveBefore(user);
  return true;
}

// Concatenates the biases, with zeros for missing ones; null if all are missing.
Value mergeBiases(OpBuilder &builder, Location loc, ArrayRef<LinearOp> group, int64_t width) {
  if (llvm::none_of(group, [](LinearOp linear) { return linear.getBias(); }))
    return {};
  auto zeros = FillSourceAttr::get(builder.getContext(), llvm::APFloat(0.0));
  SmallVector<Value> biases;
  for (LinearOp linear : group) {
    int64_t outputs = tensorType(linear.getWeight()).getDimSize(0);
    Value bias = linear.getBias();
    biases.push_back(bias ? bias : DeriveOp::create(builder, loc, zeros, {}, {outputs}, builder.getF32Type()));
  }
  return DeriveOp::create(builder, loc, ConcatRecipeAttr::get(builder.getContext()), biases, {width},
                          builder.getF32Type());
}

void merge(ArrayRef<LinearOp> group) {
  LinearOp first = group.front();
  OpBuilder builder(first);
  SmallVector<Value> weights;
  int64_t width = 0;
  for (LinearOp linear : group) {
    weights.push_back(linear.getWeight());
    width += tensorType(linear.getWeight()).getDimSize(0);
  }
  RankedTensorType weightType = tensorType(first.getWeight()), resultType = tensorType(first.getResult());
  auto concat = ConcatRecipeAttr::get(builder.getContext());
  remarks.did(first, [&] {
    auto names = llvm::map_range(group, [](LinearOp linear) { return storedName(linear.getWeight()); });
    return llvm::formatv("{0} become one linear of {1} outputs", llvm::join(names, ", "), width);
  });
  Location loc = builder.getFusedLoc(llvm::map_to_vector(group, [](LinearOp op) -> Location { return op.getLoc(); }));
  Value weight =
      DeriveOp::create(builder, loc, concat, weights, {width, weightType.getDimSize(1)}, weightType.getElementType());
  Value bias = mergeBiases(builder, loc, group, width);
  auto mergedType = RankedTensorType::get({resultType.getDimSize(0), width}, resultType.getElementType());
  Value merged = LinearOp::create(builder, loc, mergedType, first.getX(), weight, bias);
  int64_t offset = 0;
  for (LinearOp linear : group) {
    Value slice = SliceOp::create(builder, linear.getLoc(), linear.getType(), merged, offset);
    offset += tensorType(slice).getDimSize(1);
    linear.replaceAllUsesWith(slice);
  }
  for (LinearOp linear : group)
    linear.erase();
}

struct MergeProjections : talc::impl::MergeProjectionsBase<MergeProjections> {
  void runOnOperation() override {
    StorageTypes storage(getOperation());
    getOperation().walk([&](Block *block) { runOnBlock(*block, storage); });
  }

  // Merges projections of one value if their weights have the same element type and the same storage format.
  static void runOnBlock(Block &block, StorageTypes &storage) {
    llvm::MapVector<std::tuple<Value, Type, Type>, Group> groups;
    for (auto linear : block.getOps<LinearOp>())
      if (mayMerge(linear))
        groups[{linear.getX(), tensorType(linear.getWeight()).getElementType(), storage.getType(linear.getWeight())}]
            .push_back(linear);
    for (auto &[key, group] : groups) {
      Operation *first = group.front();
      if (group.size() > 1)
        llvm::erase_if(group, [&](LinearOp linear) {
          return !makeAvailable(linear.getWeight(), first) || !makeAvailable(linear.getBias(), first);
        });
      if (group.size() > 1)
        merge(group);
    }
  }
};

}  // namespace
