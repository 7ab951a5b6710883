// SPDX-License-Identifier: Apache-2.0
// observe-features: makes the inputs of all matmuls the model's second result.
//
//   func @block(%x, %w) -> y       ->  func @block(%x, %w) -> [y | x | ...]      x: the input of linear(x, w)
//   y = call @block(a, @w)         ->  r = call @block(a, @w), y = slice r, f = slice r
//   return y                       ->  return y, [... | f]
//
// [..] are features side by side, for every token, because layer functions return one value. `talc.observed` lists, in
// their order, the number of features of each input and the matrices that it is multiplied by.
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/CallSites.h"
#include "dialects/talc/LogitParts.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "llvm/ADT/TypeSwitch.h"

#include <map>

namespace talc {
#define GEN_PASS_DEF_OBSERVEFEATURES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// The parts of a function's last result, in order: inputs with the matrices that they are multiplied by, and calls.
struct Features {
  llvm::MapVector<Value, SmallVector<Value>> inputs;
  SmallVector<func::CallOp> calls;
};

int64_t featureCount(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getDimSize(1);
}

// Concatenates features, in pairs first, so that long rows are copied only a few times.
Value joined(OpBuilder &b, Location loc, SmallVector<Value> parts) {
  while (parts.size() > 1) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      int64_t width = featureCount(parts[i]) + featureCount(parts[i + 1]);
      auto type = RankedTensorType::get({ShapedType::kDynamic, width}, b.getF32Type());
      pairs.push_back(JoinOp::create(b, loc, type, parts[i], parts[i + 1], 1));
    }
    if (parts.size() % 2 == 1)
      pairs.push_back(parts.back());
    parts = std::move(pairs);
  }
  return parts.front();
}

struct ObserveFeatures : talc::impl::ObserveFeaturesBase<ObserveFeatures> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> entries, functions(CallSites(getOperation()).calleesFirst());
    llvm::copy_if(functions, std::back_inserter(entries),
                  [](func::FuncOp function) { return function->hasAttr(entryAttr); });
    if (entries.size() != 1) {
      getOperation().emitError() << "has " << entries.size() << " entries; only models with one entry can be observed";
      return signalPassFailure();
    }
    dropLogitParts(entries.front());
    for (func::FuncOp function : functions)
      observe(function);
    finish(entries.front());
    SmallVector<Attribute> listed;
    list(entries.front(), {}, listed);
    getOperation()->setAttr(observedAttr, ArrayAttr::get(&getContext(), listed));
  }

  void observe(func::FuncOp function) {
    Features &features = featuresByFunction[function];
    function.walk([](SelectOp select) {  // every token counts
      select.replaceAllUsesWith(select.getX());
      select.erase();
    });
    SmallVector<Value> callFeatures;
    for (func::CallOp call : llvm::to_vector(function.getOps<func::CallOp>()))
      if (auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee()); returnsFeatures(callee))
        callFeatures.push_back(replaceCall(call, callee, features));
    function.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](LinearOp linear) {
            if (linear.getGroups() == 1)
              features.inputs[linear.getX()].push_back(linear.getWeight());
          })
          .Case([&](ExpertsOp experts) {
            features.inputs[experts.getX()].append({experts.getGate(), experts.getUp()});
          });
    });
    SmallVector<Value> parts(llvm::make_first_range(features.inputs));
    parts.append(callFeatures);
    if (!parts.empty())
      addResult(function, parts);
  }

  bool returnsFeatures(func::FuncOp function) const {
    auto it = featuresByFunction.find(function);
    if (it == featuresByFunction.end())
      return false;
    const Features &features = it->second;
    return !features.inputs.empty() || !features.calls.empty();
  }

  // Replaces a call of a function that now returns features behind its result. Returns these features.
  static Value replaceCall(func::CallOp call, func::FuncOp callee, Features &features) {
    OpBuilder b(call);
    auto again = func::CallOp::create(b, call.getLoc(), callee, call.getOperands());
    Value all = again.getResult(0);
    int64_t before = call.getNumResults() == 0 ? 0 : featureCount(call.getResult(0));
    auto type = RankedTensorType::get({ShapedType::kDynamic, featureCount(all) - before}, b.getF32Type());
    for (Value result : call.getResults())
      result.replaceAllUsesWith(SliceOp::create(b, call.getLoc(), result.getType(), all, 0));
    Value added = SliceOp::create(b, call.getLoc(), type, all, before);
    call.erase();
    features.calls.push_back(again);
    return added;
  }

  static void addResult(func::FuncOp function, SmallVector<Value> parts) {
    Operation *end = function.front().getTerminator();
    OpBuilder b(end);
    if (!function->hasAttr(entryAttr)) {
      parts.insert(parts.begin(), end->operand_begin(), end->operand_end());
      end->setOperands({});
    }
    end->insertOperands(end->getNumOperands(), joined(b, end->getLoc(), parts));
    function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), end->getOperandTypes()));
  }

  // The model keeps its first result; the features become the second one.
  void finish(func::FuncOp entry) {
    Operation *end = entry.front().getTerminator();
    if (end->getNumOperands() > 2)
      end->eraseOperands(1, end->getNumOperands() - 2);
    Builder b(&getContext());
    entry.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), end->getOperandTypes()));
    auto kinds = getOperation()->getAttrOfType<ArrayAttr>(outputsAttr);
    Attribute first = kinds ? kinds[0] : b.getStringAttr(logitsOutput);
    getOperation()->setAttr(outputsAttr, b.getArrayAttr({first, b.getStringAttr(hiddenOutput)}));
  }

  // Appends a dictionary for each input; `arguments` are the names of the weights that a call passes.
  void list(func::FuncOp function, ArrayRef<Attribute> arguments, SmallVectorImpl<Attribute> &listed) {
    auto weightName = [&](Value value) -> Attribute {
      if (auto get = value.getDefiningOp<GetWeightOp>())
        return get.getNameAttr();
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getArgNumber() < arguments.size() ? arguments[argument.getArgNumber()] : Attribute();
    };
    Builder b(&getContext());
    for (auto &[input, matrices] : featuresByFunction[function].inputs) {
      SmallVector<Attribute> names;
      for (Value matrix : matrices)
        if (Attribute name = weightName(matrix))
          names.push_back(name);
      listed.push_back(b.getDictionaryAttr({b.getNamedAttr(featuresKey, b.getI64IntegerAttr(featureCount(input))),
                                            b.getNamedAttr(matricesKey, b.getArrayAttr(names))}));
    }
    for (func::CallOp call : featuresByFunction[function].calls) {
      SmallVector<Attribute> names;
      for (Value operand : call.getOperands())
        names.push_back(weightName(operand));
      list(getOperation().lookupSymbol<func::FuncOp>(call.getCallee()), names, listed);
    }
  }

  std::map<Operation *, Features> featuresByFunction;
};

}  // namespace
