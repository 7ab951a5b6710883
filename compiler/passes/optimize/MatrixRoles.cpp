// SPDX-License-Identifier: Apache-2.0
// Follows activations from attention, routers and results back to the matmuls that make them, and inputs of matmuls
// back to what they are made of:
//
//   values <- slice, norm, add a bias ... <- linear               MatrixRole::Values
//   linear <- ... <- attention                                    MatrixRole::AttentionOutput
//   linear <- ... <- activation, the gated product                MatrixRole::Down
#include "compiler/passes/optimize/MatrixRoles.h"

#include "compiler/passes/optimize/CallSites.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace talc {

namespace {

bool isMatmul(Operation *op) {
  return isa<LinearOp, GatedLinearOp, ExpertsOp>(op);
}

// The ops of a function that make a value, without what is behind matmuls and attention; these are last.
llvm::SetVector<Operation *> collectMakers(Value value) {
  llvm::SetVector<Operation *> makers;
  SmallVector<Value> rest{value};
  while (!rest.empty()) {
    Operation *op = rest.pop_back_val().getDefiningOp();
    if (op && makers.insert(op) && !isMatmul(op) && !isa<AttentionOp, MemoryOp, func::CallOp>(op))
      llvm::append_range(rest, op->getOperands());
  }
  return makers;
}

class RoleFinder {
public:
  explicit RoleFinder(ModuleOp module) : module(module), callSites(module), trace(module, callSites) {}

  MatrixRoles find() {
    module.walk([&](Operation *op) { visitUses(op); });
    // Later ones are more specific.
    module.walk([&](Operation *op) { visitInputs(op); });
    module.walk([&](Operation *op) { visitResults(op); });
    found.model.queryGroup = std::max<int64_t>(found.model.queryGroup, 1);
    found.model.layers = countLayers();
    return sorted();
  }

private:
  void set(Value matrix, MatrixRole role) {
    SmallVector<WeightOp> weights;
    trace.find(matrix, weights);
    for (WeightOp weight : weights)
      found.roles[weight] = role;
  }

  // All matrices, and those whose roles are operands.
  void visitUses(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LinearOp linear) { set(linear.getWeight(), MatrixRole::Other); })
        .Case([&](GatedLinearOp gated) {
          set(gated.getWeight(), MatrixRole::Other);
          set(gated.getUp(), MatrixRole::Other);
        })
        .Case([&](ExpertsOp experts) {
          set(experts.getGate(), MatrixRole::Other);
          set(experts.getUp(), MatrixRole::Other);
          set(experts.getDown(), MatrixRole::Down);
        })
        .Case([&](EmbeddingOp embedding) { set(embedding.getTable(), MatrixRole::Other); });
  }

  void visitInputs(Operation *op) {
    auto linear = dyn_cast<LinearOp>(op);
    if (!linear)
      return;
    auto makers = collectMakers(linear.getX());
    auto has = [&](auto isKind) { return llvm::any_of(makers, isKind); };
    if (has([](Operation *maker) { return isa<AttentionOp, MemoryOp>(maker); }))
      set(linear.getWeight(), MatrixRole::AttentionOutput);
    else if (has([](Operation *maker) { return isa<ActivationOp, GatedLinearOp>(maker); }))
      set(linear.getWeight(), MatrixRole::Down);
  }

  void setMakers(Value value, MatrixRole role) {
    for (Operation *maker : collectMakers(value))
      if (auto linear = dyn_cast<LinearOp>(maker))
        set(linear.getWeight(), role);
  }

  void visitKeysAndValues(Value keys, Value values) {
    setMakers(keys, MatrixRole::Keys);
    setMakers(values, MatrixRole::Values);
  }

  void visitResults(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](KvAppendOp append) { visitKeysAndValues(append.getKeys(), append.getValues()); })
        .Case([&](AttentionOp attention) {
          visitKeysAndValues(attention.getKeys(), attention.getValues());
          found.model.queryGroup = attention.getHeads() / std::max<int64_t>(attention.getKvHeads(), 1);
        })
        .Case([&](RouteOp route) {
          setMakers(route.getX(), MatrixRole::Router);
          found.model.experts = cast<RankedTensorType>(route.getX().getType()).getDimSize(1);
        })
        .Case([&](func::ReturnOp result) {
          if (result->getParentOp()->hasAttr(entryAttr))
            for (Value value : result.getOperands())
              setMakers(value, MatrixRole::Output);
        });
  }

  // Each call of a function with attention is a layer.
  int64_t countLayers() {
    int64_t layers = 0;
    for (auto function : module.getOps<func::FuncOp>()) {
      bool hasAttention = false;
      function.walk([&](AttentionOp) { hasAttention = true; });
      if (hasAttention)
        layers += std::max<int64_t>(static_cast<int64_t>(callSites.callsTo(function).size()), 1);
    }
    return layers;
  }

  // In the order of the module, which is that of layers.
  MatrixRoles sorted() {
    MatrixRoles result{{}, found.model};
    for (WeightOp weight : module.getOps<WeightOp>())
      if (auto entry = found.roles.find(weight); entry != found.roles.end())
        result.roles.insert(*entry);
    return result;
  }

  ModuleOp module;
  CallSites callSites;
  WeightTrace trace;
  MatrixRoles found{{}, {0, 1, 0}};
};

}  // namespace

MatrixRoles findMatrixRoles(ModuleOp module) {
  return RoleFinder(module).find();
}

}  // namespace talc
