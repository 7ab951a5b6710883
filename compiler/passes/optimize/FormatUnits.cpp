// SPDX-License-Identifier: Apache-2.0
// Follows the matrices of layers to weights. A layer function takes them as arguments, different ones for each call:
//
//   func @block(%x, %q, %k, %o)            a unit for each call: {q, k}, {o}
//     linear %x, %q    linear %x, %k       they multiply the same %x
//     linear %y, %o
#include "compiler/passes/optimize/FormatUnits.h"

#include "compiler/passes/optimize/CallSites.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace talc {

namespace {

// Matrices of a function that share a format, as SSA values.
using Group = SmallVector<Value>;

class UnitFinder {
public:
  UnitFinder(ModuleOp module, const FormatChoice &choice)
      : module(module), choice(choice), callSites(module), trace(module, callSites) {
    for (WeightOp weight : module.getOps<WeightOp>())
      numbers.insert({weight, numbers.size()});
    classes.grow(numbers.size());
  }

  std::vector<FormatUnit> find() {
    for (auto function : module.getOps<func::FuncOp>())
      for (const Group &group : groupsOf(function))
        join(group);
    SmallVector<WeightOp> tables;
    module.walk([&](EmbeddingOp embedding) { trace.find(embedding.getTable(), tables); });
    classes.compress();
    std::vector<FormatUnit> units(classes.getNumClasses());
    for (Operation *matrix : matrices) {
      FormatUnit &unit = units[classes[numbers.lookup(matrix)]];
      unit.matrices.insert(matrix);
      if (llvm::is_contained(tables, matrix))
        unit.tables.insert(matrix);
      trace.addSources(cast<WeightOp>(matrix), unit.weights);
    }
    llvm::erase_if(units, [](const FormatUnit &unit) { return unit.matrices.empty(); });
    return units;
  }

private:
  static std::vector<Group> groupsOf(func::FuncOp function) {
    llvm::MapVector<Value, Group> groups;
    function.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](LinearOp linear) { groups[linear.getX()].push_back(linear.getWeight()); })
          .Case([&](GatedLinearOp gated) {
            for (Value matrix : {gated.getWeight(), gated.getUp()})
              groups[gated.getX()].push_back(matrix);
          })
          .Case([&](ExpertsOp experts) {
            groups[experts.getResult()] = {experts.getGate(), experts.getUp()};
            groups[experts.getDown()] = {experts.getDown()};
          })
          .Case([&](EmbeddingOp embedding) { groups[embedding.getResult()] = {embedding.getTable()}; });
    });
    auto values = llvm::make_second_range(groups);
    return {values.begin(), values.end()};
  }

  bool isNamed(WeightOp matrix) {
    llvm::SetVector<Operation *> sources;
    trace.addSources(matrix, sources);
    return llvm::any_of(
        sources, [&](Operation *source) { return choice.findRule(chosenName(cast<WeightOp>(source).getSymName())); });
  }

  void join(const Group &group) {
    SmallVector<WeightOp> first;
    for (Value value : group) {
      SmallVector<WeightOp> weights;
      trace.find(value, weights);
      for (auto [way, weight] : llvm::enumerate(weights)) {
        add(weight);
        if (!first.empty() && !isNamed(weight) && !isNamed(first[way % first.size()]))
          classes.join(numbers.lookup(weight), numbers.lookup(first[way % first.size()]));
      }
      if (first.empty())
        first = weights;
    }
  }

  // A matrix shares the format of the weights that it depends on.
  void add(WeightOp matrix) {
    auto type = cast<RankedTensorType>(matrix.getType());
    if (type.getRank() != 2 || !type.getElementType().isF32() || !matrices.insert(matrix))
      return;
    llvm::SetVector<Operation *> sources;
    trace.addSources(matrix, sources);
    for (Operation *source : sources)
      classes.join(numbers.lookup(source), numbers.lookup(matrix));
  }

  ModuleOp module;
  const FormatChoice &choice;
  CallSites callSites;
  WeightTrace trace;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::IntEqClasses classes;
  llvm::SetVector<Operation *> matrices;
};

}  // namespace

std::vector<FormatUnit> findFormatUnits(ModuleOp module, const FormatChoice &choice) {
  return UnitFinder(module, choice).find();
}

}  // namespace talc
