// SPDX-License-Identifier: Apache-2.0
// Weights and KV caches are not nodes of their own but belong to the operations that take them. Calls of one function
// that follow each other are one node.
#include "tools/talc/inspect/ModelGraph.h"

#include "compiler/passes/PassRemarks.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc::tools {

// Features of a row; 0: the value has no rows.
static int64_t countFeatures(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2 && type.isDynamicDim(0) ? type.getDimSize(1) : 0;
}

// "norm layer", "attention causal": the name, and what the attributes choose among.
static std::string makeTitle(Operation *op) {
  std::string title = op->getName().stripDialect().str();
  for (NamedAttribute attribute : op->getAttrs()) {
    if (auto kind = dyn_cast<NormKindAttr>(attribute.getValue()))
      title += " " + stringifyNormKind(kind.getValue()).str();
    if (auto kind = dyn_cast<ActivationKindAttr>(attribute.getValue()))
      title += " " + stringifyActivationKind(kind.getValue()).str();
    if (auto kind = dyn_cast<MaskKindAttr>(attribute.getValue()))
      title += " " + stringifyMaskKind(kind.getValue()).str();
  }
  return title;
}

static std::string makeDetail(Operation *op) {
  int64_t in = 0, out = op->getNumResults() > 0 ? countFeatures(op->getResult(0)) : 0;
  for (Value operand : op->getOperands())
    in = in == 0 ? countFeatures(operand) : in;
  if (auto attention = dyn_cast<AttentionOp>(op))
    return fmt::format("{} heads, {} of keys", attention.getHeads(), attention.getKvHeads());
  if (out == 0 || in == out || in == 0)
    return out + in > 0 ? fmt::format("{}", std::max(in, out)) : "";
  return fmt::format("{} → {}", in, out);
}

namespace {

class FunctionReader {
public:
  FunctionReader(func::FuncOp function, GraphFunction &graph) : graph(graph) {
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (type && type.getRank() > 0 && type.isDynamicDim(0))
        addInput(argument, type.getRank() == 1 ? "token ids" : "x");
    }
    for (Operation &op : function.front().without_terminator())
      if (!isa<GetWeightOp, GetKvCacheOp, DeriveOp>(op))
        add(&op);
  }

private:
  void addInput(Value value, const std::string &title) {
    places[value] = static_cast<int>(graph.nodes.size());
    int64_t features = countFeatures(value);
    graph.nodes.push_back({"", title, features ? fmt::format("{}", features) : "", "", {}, {}, 1});
  }

  void add(Operation *op) {
    GraphNode node{getOrigin(op), makeTitle(op), makeDetail(op), "", {}, {}, 1};
    llvm::SetVector<int> inputs;
    for (Value operand : op->getOperands()) {
      if (auto place = places.find(operand); place != places.end())
        inputs.insert(place->second);
      std::string name = storedName(operand);
      if (!name.empty() && !llvm::is_contained(node.stored, name))
        node.stored.push_back(name);
    }
    node.inputs.assign(inputs.begin(), inputs.end());
    auto call = dyn_cast<func::CallOp>(op);
    node.callee = call ? call.getCallee().str() : "";
    int place = call ? repeated(node) : -1;
    if (place >= 0) {
      ++graph.nodes[place].count;
    } else {
      place = static_cast<int>(graph.nodes.size());
      if (call)
        node.title = node.callee;
      graph.nodes.push_back(std::move(node));
    }
    for (Value result : op->getResults())
      places[result] = place;
    if (auto append = dyn_cast<KvAppendOp>(op))
      places[append.getCache()] = place;  // reads of the cache come after the append
  }

  // The node of the call right before, if it is the same; -1: there is none.
  int repeated(const GraphNode &node) const {
    int last = static_cast<int>(graph.nodes.size()) - 1;
    return last >= 0 && graph.nodes[last].callee == node.callee && llvm::is_contained(node.inputs, last) ? last : -1;
  }

  GraphFunction &graph;
  llvm::DenseMap<Value, int> places;
};

}  // namespace

std::vector<GraphFunction> readGraph(ModuleOp module) {
  llvm::SetVector<Operation *> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(entryAttr) && !function.isExternal())
      functions.insert(function);
  llvm::DenseMap<Operation *, int64_t> calls;
  for (size_t i = 0; i < functions.size(); ++i)
    functions[i]->walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        return;
      functions.insert(callee);
      ++calls[callee];
    });
  std::vector<GraphFunction> graphs;
  for (Operation *function : functions) {
    graphs.push_back({cast<func::FuncOp>(function).getName().str(), calls.lookup(function), {}});
    FunctionReader(cast<func::FuncOp>(function), graphs.back());
  }
  return graphs;
}

}  // namespace talc::tools
