// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.route: selects the largest feature that is not yet in the result, one after the other.
//
// If there is a bias, or if features are in groups, a scratch row has the scores by which features are compared, and
// minus infinity for those that have been selected or excluded:
//
//   x + bias      .3 .9 | .4 .2 | .8 .7        sums of the largest two of each group   1.2  .6  1.5
//   two groups    .3 .9 |  -  - | .8 .7        then the `count` largest are selected
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include <cmath>
#include <optional>

using namespace mlir;

namespace talc {

// The index and value of the largest feature above zero that is still zero in the result; of equal ones the first.
static std::pair<Value, Value> largestLeft(Emitter &e, kernel::RouteOp op, Value row) {
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
  return e.largest(rowWidth(op.getX()), zero, [&](Value column) {
    Value feature = e.loadScalar(op.getX(), {row, column});
    Value isUnselected =
        arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ, e.loadScalar(op.getInit(), {row, column}), zero);
    return e.select(isUnselected, feature, zero);
  });
}

namespace {

class Compared {
public:
  Compared(Emitter &e, kernel::RouteOp op)
      : e(e), op(op), width(rowWidth(op.getX())), groups(op.getGroups()), features(rowScratch(e, op, width)),
        scores(rowScratch(e, op, groups)), lowest(number(-HUGE_VAL)) {}

  // Writes the selected features to the result, which is zero before.
  void choose(Value row) {
    e.columns(width, [&](Value column, Value mask) {
      Value feature = e.load(op.getX(), {row, column}, mask);
      if (op.getBias())
        feature = e.addf(feature, e.load(op.getBias(), {column}, mask));
      e.store(feature, features, {e.index(0), column}, mask);
    });
    e.sync();
    if (groups > 1)
      keepGroups();
    takeLargest(features, width, op.getCount(), [&](Value place) {
      e.storeScalar(e.loadScalar(op.getX(), {row, place}), op.getInit(), {row, place});
    });
  }

private:
  Value number(double value) {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value isLarger(Value a, Value b) { return arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, a, b); }

  // Runs body(index) for the `count` largest scores, of equal ones the first, and sets them to minus infinity.
  void takeLargest(Value numbers, int64_t size, int64_t count, llvm::function_ref<void(Value)> body) {
    e.loop(e.index(0), e.index(count), 1, [&](Value) {
      Value place = e.largest(size, lowest, [&](Value at) { return e.loadScalar(numbers, {e.index(0), at}); }).first;
      e.sync();  // all lanes have read it
      e.once([&] { e.storeScalar(lowest, numbers, {e.index(0), place}); });
      body(place);
      e.sync();
    });
  }

  // Excludes features that are not in the groups with the largest scores. Selected groups have the score minus
  // infinity.
  void keepGroups() {
    int64_t members = width / groups;
    e.each(groups, [&](Value group) {
      e.storeScalar(scoreOf(e.mul(group, members), members), scores, {e.index(0), group});
    });
    e.sync();
    takeLargest(scores, groups, op.getTopkGroups(), [](Value) {});
    e.each(width, [&](Value at) {
      Value isSelected = isLarger(e.loadScalar(scores, {e.index(0), e.div(at, members)}), lowest);
      e.storeScalar(e.select(isSelected, lowest, e.loadScalar(features, {e.index(0), at})), features, {e.index(0), at});
    });
    e.sync();
  }

  // The sum of the largest of some neighbors, by insertion into a sorted list.
  Value scoreOf(Value first, int64_t members) {
    Emitter::Values best(op.getGroupBest(), lowest);
    best = e.loop(e.index(0), e.index(members), 1, best, [&](Value at, ValueRange carried) {
      Value candidate = e.loadScalar(features, {e.index(0), e.add(first, at)});
      Emitter::Values next;
      for (Value before : carried) {
        Value larger = isLarger(candidate, before);
        next.push_back(e.select(larger, candidate, before));
        candidate = e.select(larger, before, candidate);
      }
      return next;
    });
    Value sum = best.front();
    for (Value other : llvm::drop_begin(best))
      sum = arith::AddFOp::create(e.b, e.loc, sum, other);
    return sum;
  }

  Emitter &e;
  kernel::RouteOp op;
  const int64_t width, groups;
  const Value features, scores, lowest;
};

}  // namespace

void expandRoute(Emitter &e, kernel::RouteOp op) {
  int64_t width = rowWidth(op.getX());
  Value init = op.getInit();
  std::optional<Compared> compared;
  if (op.getBias() || op.getGroups() > 1)
    compared.emplace(e, op);
  eachRow(e, op, op.getX(), [&](Value row) {
    e.columns(width, [&](Value column, Value mask) { e.store(e.splat(0), init, {row, column}, mask); });
    e.sync();
    if (compared)
      compared->choose(row);
    else
      e.loop(e.index(0), e.index(op.getCount()), 1, [&](Value) {
        auto [place, feature] = largestLeft(e, op, row);
        Value before = e.loadScalar(init, {row, place});  // unchanged if there are no more features
        e.sync();
        e.storeScalar(arith::MaximumFOp::create(e.b, e.loc, before, feature), init, {row, place});
        e.sync();
      });
    if (!op.getNormalized())
      return;
    auto load = [&](Value column, Value mask) { return e.load(init, {row, column}, mask); };
    Value sum = sumColumns(e, width, load);
    e.columns(width, [&](Value column, Value mask) {
      e.store(e.divf(load(column, mask), sum), init, {row, column}, mask);
    });
  });
}

}  // namespace talc
