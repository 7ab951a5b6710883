// SPDX-License-Identifier: Apache-2.0
// pack-weights: packs the matrices of linear layers into panels, and pads their biases to whole panels.
//
// A register tile reads its columns of one k side by side, in one ascending stream. Several narrower panels would take
// a stream each, whose cache lines fall into the same sets of L1.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/StorageTypes.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace talc {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "pack-weights");

constexpr int64_t narrowLanes = 16;  // of the panels that wider ones are compared with

bool isMatrix(Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  return type.getRank() == 2 && type.hasStaticShape();
}

// [N, K] -> [ceil(N/lanes), K, lanes]
Value pack(OpBuilder &builder, Location loc, Value matrix, int64_t lanes, Type element) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(matrix.getType()).getShape();
  int64_t panels = llvm::divideCeil(shape[0], lanes);
  return DeriveOp::create(builder, loc, PackRecipeAttr::get(builder.getContext()), matrix, {panels, shape[1], lanes},
                          element);
}

// `weight`: the weight before packing.
void reportPacked(Operation *op, Value weight, Value packed) {
  remarks.did(op, [&] {
    auto type = cast<RankedTensorType>(packed.getType());
    return llvm::formatv("{0} becomes {1} panels of {2} lanes, stored as {3}", storedName(weight), type.getDimSize(0),
                         type.getDimSize(2), type.getElementType());
  });
}

struct PackWeights : talc::impl::PackWeightsBase<PackWeights> {
  using Base::Base;

  void runOnOperation() override {
    if (lanes < 2 || lanes % 2 != 0) {
      getOperation().emitError() << "panels of " << lanes.getValue() << " lanes, expected an even number > 0";
      return signalPassFailure();
    }
    StorageTypes storage(getOperation());
    getOperation().walk([&](Operation *op) {
      if (auto linear = dyn_cast<LinearOp>(op); linear && isMatrix(linear.getWeight()))
        packLinear(linear, storage);
      if (auto gated = dyn_cast<GatedLinearOp>(op); gated && gated.getUp() && isMatrix(gated.getWeight()))
        packGated(gated, storage);
      if (auto experts = dyn_cast<ExpertsOp>(op); experts && experts.getUp() && isMatrix(experts.getDown()))
        packExperts(experts, storage);
    });
  }

  // Whether panels have no more empty lanes than narrow ones, or an acceptable share of all.
  bool hasFewEmptyLanes(int64_t outputs, int64_t width) const {
    int64_t all = llvm::alignTo(outputs, width), narrow = llvm::alignTo(outputs, narrowLanes);
    return all == narrow || (spare > 0 && (all - outputs) * spare <= all);
  }

  // The widest panels that are nearly full, and numerous enough for many threads.
  int64_t panelLanes(int64_t outputs) const {
    constexpr int64_t minPanels = 12;
    int64_t width = lanes;
    while (width % (2 * narrowLanes) == 0 &&
           (!hasFewEmptyLanes(outputs, width) || llvm::divideCeil(outputs, width) < minPanels))
      width /= 2;
    return width;
  }

  // linear(x, w, b)  ->  linear(x, pack(w), pad(b))
  void packLinear(LinearOp linear, StorageTypes &storage) {
    OpBuilder builder(linear);
    Location loc = linear.getLoc();
    Value weight = linear.getWeight(), bias = linear.getBias();
    if (linear.getGroups() > 1)
      return packGroups(linear, storage);
    int64_t outputs = cast<RankedTensorType>(weight.getType()).getDimSize(0), width = panelLanes(outputs);
    linear.getWeightMutable().assign(pack(builder, loc, weight, width, storage.getType(weight)));
    reportPacked(linear, weight, linear.getWeight());
    if (!bias || outputs % width == 0)
      return;
    int64_t length = llvm::alignTo(outputs, width);
    auto recipe = PadRecipeAttr::get(&getContext());
    Value padded = DeriveOp::create(builder, loc, recipe, bias, {length}, builder.getF32Type());
    linear.getBiasMutable().assign(padded);
  }

  // The same for grouped linears, where each group has panels of its own.
  void packGroups(LinearOp linear, StorageTypes &storage) {
    OpBuilder builder(linear);
    Value weight = linear.getWeight(), whole = weight;
    auto type = cast<RankedTensorType>(weight.getType());
    int64_t groups = linear.getGroups(), outputs = type.getDimSize(0) / groups, width = panelLanes(outputs);
    if (outputs % width != 0)
      whole = padParts(builder, linear.getLoc(), weight, groups, llvm::alignTo(outputs, width));
    linear.getWeightMutable().assign(pack(builder, linear.getLoc(), whole, width, storage.getType(weight)));
    reportPacked(linear, weight, linear.getWeight());
  }

  // gated_linear(x, gate, up)  ->  gated_linear(x, pack(interleave(gate, up)))
  void packGated(GatedLinearOp gated, StorageTypes &storage) {
    OpBuilder builder(gated);
    Location loc = gated.getLoc();
    auto type = cast<RankedTensorType>(gated.getWeight().getType());
    int64_t width = panelLanes(2 * type.getDimSize(0)), group = width / 2;
    int64_t rows = llvm::alignTo(type.getDimSize(0), group);
    Value both =
        DeriveOp::create(builder, loc, InterleaveRecipeAttr::get(&getContext(), group),
                         {gated.getWeight(), gated.getUp()}, {2 * rows, type.getDimSize(1)}, type.getElementType());
    gated.getWeightMutable().assign(pack(builder, loc, both, width, storage.getType(both)));
    reportPacked(gated, both, gated.getWeight());
    gated.getUpMutable().clear();
  }

  // Concatenates `count` matrices of `rows` rows, which `makePart` makes.
  Value concatParts(OpBuilder &builder, Location loc, int64_t count, int64_t rows,
                    llvm::function_ref<Value(int64_t)> makePart) {
    SmallVector<Value> parts;
    for (int64_t part = 0; part < count; ++part)
      parts.push_back(makePart(part));
    auto type = cast<RankedTensorType>(parts.front().getType());
    return DeriveOp::create(builder, loc, ConcatRecipeAttr::get(&getContext()), parts,
                            {count * rows, type.getDimSize(1)}, type.getElementType());
  }

  // The rows of one of `count` equal parts of a weight.
  Value slicePart(OpBuilder &builder, Location loc, Value weight, int64_t part, int64_t count) {
    auto type = cast<RankedTensorType>(weight.getType());
    int64_t all = type.getDimSize(0), rows = all / count;
    auto recipe = RowsRecipeAttr::get(&getContext(), part * rows, rows, all);
    return DeriveOp::create(builder, loc, recipe, weight, {rows, type.getDimSize(1)}, type.getElementType());
  }

  // Appends zero rows to each of `count` equal parts.
  Value padParts(OpBuilder &builder, Location loc, Value weight, int64_t count, int64_t rows) {
    auto type = cast<RankedTensorType>(weight.getType());
    return concatParts(builder, loc, count, rows, [&](int64_t number) -> Value {
      Value part = slicePart(builder, loc, weight, number, count);
      return DeriveOp::create(builder, loc, PadRecipeAttr::get(&getContext()), part, {rows, type.getDimSize(1)},
                              type.getElementType());
    });
  }

  // experts(x, gate, up, down)  ->  the same of pack(interleave(gate_e, up_e) ...) and pack(pad(down_e) ...)
  void packExperts(ExpertsOp op, StorageTypes &storage) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto gate = cast<RankedTensorType>(op.getGate().getType()), down = cast<RankedTensorType>(op.getDown().getType());
    int64_t experts = cast<RankedTensorType>(op.getRoutes().getType()).getDimSize(1);
    int64_t inner = gate.getDimSize(0) / experts, outputs = down.getDimSize(0) / experts;
    int64_t width = panelLanes(2 * inner), group = width / 2, rows = 2 * llvm::alignTo(inner, group);
    Value both = concatParts(builder, loc, experts, rows, [&](int64_t expert) -> Value {
      SmallVector<Value> pair = {slicePart(builder, loc, op.getGate(), expert, experts),
                                 slicePart(builder, loc, op.getUp(), expert, experts)};
      return DeriveOp::create(builder, loc, InterleaveRecipeAttr::get(&getContext(), group), pair,
                              {rows, gate.getDimSize(1)}, gate.getElementType());
    });
    op.getGateMutable().assign(pack(builder, loc, both, width, storage.getType(both)));
    op.getUpMutable().clear();
    int64_t lanes = panelLanes(outputs), padded = llvm::alignTo(outputs, lanes);
    Value all = padParts(builder, loc, op.getDown(), experts, padded);
    op.getDownMutable().assign(pack(builder, loc, all, lanes, storage.getType(all)));
  }
};

}  // namespace
