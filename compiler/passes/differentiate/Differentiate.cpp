// SPDX-License-Identifier: Apache-2.0
// differentiate: makes the entry of a model one that trains it (reverse mode).
//
//   func @layer(%x, %w) -> %y      ->  func @layer.forward(%x, %w) -> %y, kept values
//                                      func @layer.backward(%dy, %x, %w, kept values, memories) -> %dx
//   func @model(%ids, %seq) -> %y  ->  func @model(%ids, %seq, %labels) -> loss
//     %y = call @layer(%x, %w)           %y, %k = call @layer.forward(%x, %w)
//                                        %loss, %dy = cross_entropy %y, %labels
//                                        %dx = call @layer.backward(%dy, %x, %w, %k, %dw)
//
// Rules say what they read (DifferentiableOpInterface). A function keeps those of these values that are not arguments:
// they become further results of its forward function and arguments of its backward function. What cheap operations
// make of kept values is computed again instead. Layers with equal
// bodies share one function, and so they do here.
#include "compiler/passes/Passes.h"
#include "compiler/passes/differentiate/TrainedValues.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace talc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// The two functions of a layer function, and what their calls need beside the operands of the layer's.
struct Derivative {
  func::FuncOp forward, backward;
  llvm::SetVector<Value> kept;              // values of the layer function
  llvm::SmallVector<unsigned> activations;  // arguments whose gradients `backward` returns, in order
  llvm::SmallVector<unsigned> weights;      // arguments whose gradient memories it takes, in order
};

using Derivatives = llvm::DenseMap<Operation *, Derivative>;

// The backward function finds here what belongs to the original one.
struct Places {
  IRMapping values;                       // kept values, arguments
  llvm::DenseMap<Value, Value> memories;  // of weights that are arguments
};

// Builds the gradients of a block of operations, the last one first.
class BackwardBuilder : public Vjp {
public:
  BackwardBuilder(OpBuilder &builder, const TrainedValues &trained, const Derivatives &derivatives, Places places)
      : Vjp(builder), trained(trained), derivatives(derivatives), places(std::move(places)) {}

  LogicalResult build(llvm::ArrayRef<Operation *> operations) {
    for (Operation *op : llvm::reverse(operations))
      if (failed(buildOp(op)))
        return failure();
    return success();
  }

  Value value(Value original) override {
    if (Value place = places.values.lookupOrNull(original))
      return place;
    // A weight, or the result of a cheap operation, which is computed again.
    Operation *op = original.getDefiningOp();
    for (Value operand : op->getOperands())
      value(operand);
    builder.clone(*op, places.values);
    return places.values.lookup(original);
  }

  bool wants(Value activations) override { return trained.isActive(activations); }

  void add(Value activations, Value gradient) override {
    if (!wants(activations))
      return;
    Value &sum = gradients[activations];
    sum = sum ? AddOp::create(builder, gradient.getLoc(), sum, gradient) : gradient;
  }

  Value memory(Value weight) override {
    if (!trained.isTrained(weight))
      return {};
    Value &memory = places.memories[weight];
    if (!memory) {
      auto get = weight.getDefiningOp<GetWeightOp>();
      memory = GetGradientOp::create(builder, get.getLoc(), memoryType(weight), get.getName());
    }
    return memory;
  }

  Value gradient(Value activations) const { return gradients.lookup(activations); }

  static MemRefType memoryType(Value weight) {
    auto type = cast<RankedTensorType>(weight.getType());
    return MemRefType::get(type.getShape(), type.getElementType());
  }

private:
  LogicalResult buildOp(Operation *op) {
    llvm::SmallVector<Value> results;
    for (Value result : op->getResults())
      results.push_back(gradients.lookup(result));
    if (!llvm::any_of(results, [](Value gradient) { return bool(gradient); }))
      return success();
    if (auto call = dyn_cast<func::CallOp>(op))
      return buildCall(call, results);
    if (auto rule = dyn_cast<DifferentiableOpInterface>(op))
      return rule.buildVjp(results, *this);
    return op->emitOpError("has no gradient; freeze the weights before it");
  }

  // `call` is that of the layer function; value() finds what its forward function has kept.
  LogicalResult buildCall(func::CallOp call, llvm::ArrayRef<Value> results) {
    auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
    const Derivative &derivative = derivatives.find(callee)->second;
    llvm::SmallVector<Value> operands(results);
    for (Value operand : call.getOperands())
      operands.push_back(value(operand));
    llvm::append_range(operands, keptValues(call));
    for (unsigned weight : derivative.weights)
      operands.push_back(memory(call.getOperand(weight)));
    auto backward = func::CallOp::create(builder, call.getLoc(), derivative.backward, operands);
    for (auto [argument, gradient] : llvm::zip_equal(derivative.activations, backward.getResults()))
      add(call.getOperand(argument), gradient);
    return success();
  }

  llvm::SmallVector<Value> keptValues(func::CallOp call) const {
    auto values = keptByCalls.find(call);
    return values == keptByCalls.end() ? llvm::SmallVector<Value>() : values->second;
  }

public:
  // These values, which the forward function of a call has kept, are in the backward function.
  llvm::DenseMap<Operation *, llvm::SmallVector<Value>> keptByCalls;

private:
  const TrainedValues &trained;
  const Derivatives &derivatives;
  Places places;
  llvm::DenseMap<Value, Value> gradients;
};

struct Differentiate : talc::impl::DifferentiateBase<Differentiate> {
  using Base::Base;

  void runOnOperation() override {
    CallSites callSites(getOperation());
    TrainedValues trained(getOperation(), callSites);
    for (func::FuncOp function : callSites.calleesFirst()) {
      bool isEntry = function->hasAttr(entryAttr);
      if (failed(isEntry ? differentiateEntry(function, trained) : differentiate(function, trained)))
        return signalPassFailure();
    }
    for (auto &[function, derivative] : derivatives)
      function->erase();
  }

private:
  static llvm::SmallVector<Operation *> operationsOf(func::FuncOp function) {
    llvm::SmallVector<Operation *> operations;
    for (Operation &op : function.getBody().front().without_terminator())
      operations.push_back(&op);
    return operations;
  }

  LogicalResult differentiate(func::FuncOp function, const TrainedValues &trained) {
    if (function.getNumResults() != 1)
      return function.emitOpError("is called in a model that is trained, expected one result");
    Derivative derivative;
    for (Operation *op : operationsOf(function)) {
      if (isa<func::CallOp>(op))
        return op->emitOpError("calls a function in a function that is called");
      auto rule = dyn_cast<DifferentiableOpInterface>(op);
      if (rule && trained.isActive(op->getResult(0)))
        for (Value needed : rule.getNeeded())
          keep(needed, derivative.kept);
    }
    for (BlockArgument argument : function.getArguments())
      if (trained.isTrained(argument))
        derivative.weights.push_back(argument.getArgNumber());
    buildForward(function, derivative);
    if (failed(buildBackward(function, trained, derivative)))
      return failure();
    derivatives.try_emplace(function, std::move(derivative));
    return success();
  }

  // Keeps a value, or what a cheap operation makes it of.
  void keep(Value value, llvm::SetVector<Value> &kept) const {
    auto rule = dyn_cast_or_null<DifferentiableOpInterface>(value.getDefiningOp());
    if (isa<BlockArgument>(value) || value.getDefiningOp<GetWeightOp>())
      return;
    if (!rule || !rule.isCheap() || recompute != "cheap") {
      kept.insert(value);
      return;
    }
    for (Value operand : rule->getOperands())
      keep(operand, kept);
  }

  // The function with the kept values as further results.
  static void buildForward(func::FuncOp function, Derivative &derivative) {
    OpBuilder builder(function);
    IRMapping mapping;
    auto forward = cast<func::FuncOp>(builder.clone(*function, mapping));
    forward.setSymName((function.getSymName() + ".forward").str());
    Operation *end = forward.getBody().front().getTerminator();
    llvm::SmallVector<Value> results(end->getOperands());
    llvm::SmallVector<Type> types(forward.getResultTypes());
    for (Value kept : derivative.kept) {
      results.push_back(mapping.lookup(kept));
      types.push_back(kept.getType());
    }
    end->setOperands(results);
    forward.setFunctionType(builder.getFunctionType(forward.getArgumentTypes(), types));
    derivative.forward = forward;
  }

  LogicalResult buildBackward(func::FuncOp function, const TrainedValues &trained, Derivative &derivative) {
    OpBuilder builder(function);
    llvm::SmallVector<Type> types(function.getResultTypes());
    llvm::append_range(types, function.getArgumentTypes());
    for (Value kept : derivative.kept)
      types.push_back(kept.getType());
    for (unsigned weight : derivative.weights)
      types.push_back(BackwardBuilder::memoryType(function.getArgument(weight)));
    auto backward = func::FuncOp::create(builder, function.getLoc(), (function.getSymName() + ".backward").str(),
                                         builder.getFunctionType(types, {}));
    backward.setPrivate();
    Block *body = backward.addEntryBlock();
    builder.setInsertionPointToStart(body);
    unsigned next = function.getNumResults();
    Places places;
    for (BlockArgument argument : function.getArguments())
      places.values.map(argument, body->getArgument(next++));
    for (Value kept : derivative.kept)
      places.values.map(kept, body->getArgument(next++));
    for (unsigned weight : derivative.weights)
      places.memories[function.getArgument(weight)] = body->getArgument(next++);
    BackwardBuilder gradients(builder, trained, derivatives, std::move(places));
    Operation *end = function.getBody().front().getTerminator();
    gradients.add(end->getOperand(0), body->getArgument(0));
    if (failed(gradients.build(operationsOf(function))))
      return failure();
    finishBackward(function, backward, gradients, derivative);
    return success();
  }

  // Returns the gradients of the arguments that have one.
  static void finishBackward(func::FuncOp function, func::FuncOp backward, BackwardBuilder &gradients,
                             Derivative &derivative) {
    llvm::SmallVector<Value> results;
    for (BlockArgument argument : function.getArguments())
      if (Value gradient = gradients.gradient(argument)) {
        derivative.activations.push_back(argument.getArgNumber());
        results.push_back(gradient);
      }
    func::ReturnOp::create(gradients.builder, function.getLoc(), results);
    backward.setFunctionType(gradients.builder.getFunctionType(backward.getArgumentTypes(),
                                                               llvm::to_vector(ValueRange(results).getTypes())));
    derivative.backward = backward;
  }

  // Appends loss and gradients to the model itself, which so keeps all values by nature.
  LogicalResult differentiateEntry(func::FuncOp entry, const TrainedValues &trained) {
    Operation *end = entry.getBody().front().getTerminator();
    if (end->getNumOperands() == 0 || !trained.isActive(end->getOperand(0)))
      return entry.emitOpError("is to be trained, expected logits that depend on a trained weight");
    llvm::SmallVector<Operation *> operations = operationsOf(entry);
    OpBuilder builder(end);
    auto labelType = RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
    (void)entry.insertArgument(entry.getNumArguments(), labelType, {}, entry.getLoc());
    Value logits = end->getOperand(0), labels = entry.getArguments().back();
    auto lossType = RankedTensorType::get({ShapedType::kDynamic, 1}, builder.getF32Type());
    auto loss = CrossEntropyOp::create(builder, entry.getLoc(), lossType, logits.getType(), logits, labels,
                                       llvm::APFloat(double(smoothing)));
    Places places;
    for (BlockArgument argument : entry.getArguments())
      places.values.map(argument, argument);
    for (Operation *op : operations)
      for (Value result : op->getResults())
        places.values.map(result, result);
    BackwardBuilder gradients(builder, trained, derivatives, std::move(places));
    keepValues(operations, gradients);
    gradients.add(logits, loss.getGradient());
    if (failed(gradients.build(operations)))
      return failure();
    end->setOperands(loss.getLoss());
    entry.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), lossType));
    replaceCalls(operations);
    // Nobody asks for further results of the model any more.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    return success();
  }

  // Calls forward functions before each call, whose place they take in the end.
  void keepValues(llvm::ArrayRef<Operation *> operations, BackwardBuilder &gradients) {
    for (Operation *op : operations)
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
        OpBuilder before(call);
        auto forward =
            func::CallOp::create(before, call.getLoc(), derivatives.find(callee)->second.forward, call.getOperands());
        auto values = forward.getResults().drop_front(call.getNumResults());
        gradients.keptByCalls[call].assign(values.begin(), values.end());
        forwards[call] = forward;
      }
  }

  void replaceCalls(llvm::ArrayRef<Operation *> operations) {
    for (Operation *op : operations)
      if (auto call = dyn_cast<func::CallOp>(op)) {
        call.replaceAllUsesWith(forwards[call].getResults().take_front(call.getNumResults()));
        call.erase();
      }
  }

  Derivatives derivatives;
  llvm::DenseMap<Operation *, func::CallOp> forwards;
};

}  // namespace
