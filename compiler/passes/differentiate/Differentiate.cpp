// SPDX-License-Identifier: Apache-2.0
// differentiate: makes the entry of a model one that trains it (reverse mode).
//
//   func @layer(%x, %w) -> %y      ->  func @layer.forward(%x, %w) -> %y, kept values
//                                      func @layer.backward(%dy, %x, %w, kept values, buffers) -> %dx
//   func @model(%ids, %seq) -> %y  ->  func @model(%ids, %seq, %labels) -> loss
//     %y = call @layer(%x, %w)           %y, %k = call @layer.forward(%x, %w)
//                                        %loss, %dy = cross_entropy %y, %labels
//                                        %dx = call @layer.backward(%dy, %x, %w, %k, %dw)
//
// Rules say what they read (DifferentiableOpInterface). A function keeps those of these values that are not arguments:
// they become further results of its forward function and arguments of its backward function. What cheap operations
// make of kept values is computed again instead. Layers with equal bodies share one function, and so they do here.
#include "compiler/passes/Passes.h"
#include "compiler/passes/differentiate/BackwardBuilder.h"
#include "dialects/talc/ModuleKeys.h"

namespace talc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct Differentiate : talc::impl::DifferentiateBase<Differentiate> {
  using Base::Base;

  void runOnOperation() override {
    if (recompute != "cheap" && recompute != "none") {
      getOperation().emitError() << "cannot recompute '" << recompute << "', expected cheap or none";
      return signalPassFailure();
    }
    CallSites callSites(getOperation());
    TrainedValues trained(getOperation(), callSites);
    for (func::FuncOp function : callSites.calleesFirst()) {
      bool isEntry = function->hasAttr(entryAttr);
      if (failed(isEntry ? differentiateEntry(function, trained) : differentiate(function, trained)))
        return signalPassFailure();
    }
    for (auto &[function, derivative] : derivatives)
      function->erase();
    derivatives.clear();
  }

private:
  static llvm::SmallVector<Operation *> listOperations(func::FuncOp function) {
    llvm::SmallVector<Operation *> operations;
    for (Operation &op : function.getBody().front().without_terminator())
      operations.push_back(&op);
    return operations;
  }

  LogicalResult differentiate(func::FuncOp function, const TrainedValues &trained) {
    if (function.getNumResults() != 1)
      return function.emitOpError("is called in a model that is trained, expected one result");
    Derivative derivative;
    for (Operation *op : listOperations(function)) {
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
    derivatives.insert({function, std::move(derivative)});
    return success();
  }

  // Keeps a value, or what a cheap operation makes it from.
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

  // Makes the function whose further results are the kept values.
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
      types.push_back(BackwardBuilder::bufferType(function.getArgument(weight)));
    derivative.backward = func::FuncOp::create(builder, function.getLoc(), (function.getSymName() + ".backward").str(),
                                               builder.getFunctionType(types, {}));
    derivative.backward.setPrivate();
    Block *body = derivative.backward.addEntryBlock();
    builder.setInsertionPointToStart(body);
    BackwardBuilder gradients(builder, trained, derivatives);
    unsigned next = function.getNumResults();
    for (BlockArgument argument : function.getArguments())
      gradients.map(argument, body->getArgument(next++));
    for (Value kept : derivative.kept)
      gradients.map(kept, body->getArgument(next++));
    for (unsigned weight : derivative.weights)
      gradients.mapBuffer(function.getArgument(weight), body->getArgument(next++));
    Operation *end = function.getBody().front().getTerminator();
    gradients.add(end->getOperand(0), body->getArgument(0));
    if (failed(gradients.build(listOperations(function))))
      return failure();
    finishBackward(function, gradients, derivative);
    return success();
  }

  // Returns the gradients of the arguments that have one.
  static void finishBackward(func::FuncOp function, BackwardBuilder &gradients, Derivative &derivative) {
    llvm::SmallVector<Value> results;
    for (BlockArgument argument : function.getArguments())
      if (Value gradient = gradients.gradient(argument)) {
        derivative.activations.push_back(argument.getArgNumber());
        results.push_back(gradient);
      }
    func::ReturnOp::create(gradients.builder, function.getLoc(), results);
    derivative.backward.setFunctionType(gradients.builder.getFunctionType(
        derivative.backward.getArgumentTypes(), llvm::to_vector(ValueRange(results).getTypes())));
  }

  // Appends the loss and its gradients to the model itself, where all values of the forward part are at hand.
  LogicalResult differentiateEntry(func::FuncOp entry, const TrainedValues &trained) {
    Operation *end = entry.getBody().front().getTerminator();
    if (end->getNumOperands() == 0 || !trained.isActive(end->getOperand(0)))
      return entry.emitOpError("is to be trained, expected logits that depend on a trained weight");
    llvm::SmallVector<Operation *> operations = listOperations(entry);
    OpBuilder builder(end);
    CrossEntropyOp loss = buildLoss(entry, end->getOperand(0), builder);
    BackwardBuilder gradients(builder, trained, derivatives);
    for (BlockArgument argument : entry.getArguments())
      gradients.map(argument, argument);
    for (Operation *op : operations)
      for (Value result : op->getResults())
        gradients.map(result, result);
    ForwardCalls forwards = callForward(operations, gradients);
    gradients.add(loss.getLogits(), loss.getGradient());
    if (failed(gradients.build(operations)))
      return failure();
    end->setOperands(loss.getLoss());
    entry.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), loss.getLoss().getType()));
    entry->getParentOp()->setAttr(outputsAttr, builder.getStrArrayAttr({lossOutput}));
    entry->setAttr(entryNameAttr, builder.getStringAttr(trainEntry));
    for (auto [call, forward] : forwards) {
      call->replaceAllUsesWith(forward.getResults().take_front(call->getNumResults()));
      call->erase();
    }
    eraseUnusedResults(entry);
    return success();
  }

  // The loss of labels, which become an argument.
  CrossEntropyOp buildLoss(func::FuncOp entry, Value logits, OpBuilder &builder) {
    auto labelType = RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
    (void)entry.insertArgument(entry.getNumArguments(), labelType, {}, entry.getLoc());
    auto lossType = RankedTensorType::get({ShapedType::kDynamic, 1}, builder.getF32Type());
    return CrossEntropyOp::create(builder, entry.getLoc(), lossType, logits.getType(), logits,
                                  entry.getArguments().back(), llvm::APFloat(double(smoothing)));
  }

  // The calls of layer functions, and those of forward functions that take their place.
  using ForwardCalls = llvm::SmallVector<std::pair<Operation *, func::CallOp>>;

  ForwardCalls callForward(llvm::ArrayRef<Operation *> operations, BackwardBuilder &gradients) {
    ForwardCalls forwards;
    for (Operation *op : operations)
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
        OpBuilder before(call);
        auto forward =
            func::CallOp::create(before, call.getLoc(), derivatives.find(callee)->second.forward, call.getOperands());
        gradients.mapKept(call, forward.getResults().drop_front(call.getNumResults()));
        forwards.emplace_back(call, forward);
      }
    return forwards;
  }

  // Nobody asks for further results of the model any more.
  static void eraseUnusedResults(func::FuncOp entry) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  Derivatives derivatives;
};

}  // namespace
