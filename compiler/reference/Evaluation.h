// SPDX-License-Identifier: Apache-2.0
// One step of the interpreter: walks the functions of a module and evaluates every op.
#pragma once

#include "compiler/reference/Sequences.h"
#include "compiler/reference/Tensors.h"
#include "compiler/reference/Weights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <variant>

namespace talc::reference {

struct TokenIds {};
struct Borders {};
struct Labels {};

// The content of an SSA value: activations, a weight, a KV cache, the sum of a gradient, or the step's ids,
// sequences or labels.
using Content = std::variant<MatrixPtr, WeightPtr, State *, GradientSum *, TokenIds, Borders, Labels>;

// The values of one call of a function.
class Frame {
public:
  void set(mlir::Value value, Content content) { contents[value] = std::move(content); }
  void set(mlir::Value value, Matrix matrix) { set(value, std::make_shared<const Matrix>(std::move(matrix))); }
  const Content &get(mlir::Value value) const { return contents.find(value)->second; }

  // A tensor type does not say whether a value is a weight, so either can be asked for.
  MatrixPtr matrix(mlir::Value value) const;
  WeightPtr weight(mlir::Value value) const;  // null for a null value
  State &state(mlir::Value value) const { return *std::get<State *>(get(value)); }
  GradientSum &gradient(mlir::Value value) const { return *std::get<GradientSum *>(get(value)); }

private:
  llvm::DenseMap<mlir::Value, Content> contents;
};

// A step of training has this beside what a step of inference has.
struct TrainingStep {
  std::vector<int32_t> labels;                    // of the wanted tokens; -1: none
  std::map<std::string, GradientSum> &gradients;  // by the names of weights
};

class Evaluation {
public:
  // `training` is null in inference.
  Evaluation(const StepSequences &step, llvm::ArrayRef<int32_t> ids, Weights &weights,
             std::map<std::string, State> &states, ActivationPrecision precision, TrainingStep *training)
      : step(step), ids(ids), weights(weights), states(states), precision(precision), training(training) {}

  // Calls the entry function with the step's ids and sequences.
  llvm::Expected<std::vector<MatrixPtr>> run(mlir::func::FuncOp entry);

private:
  llvm::Expected<std::vector<Content>> call(mlir::func::FuncOp function, llvm::ArrayRef<Content> arguments);
  llvm::Error evaluateOp(mlir::Operation *op, Frame &frame);
  llvm::Error evaluateSource(mlir::Operation *op, Frame &frame);
  llvm::Error evaluateRowOp(mlir::Operation *op, Frame &frame);
  llvm::Error evaluateSequenceOp(mlir::Operation *op, Frame &frame);
  llvm::Error evaluateCall(mlir::func::CallOp op, Frame &frame);
  llvm::Error checkRows(mlir::Operation *op, const Frame &frame) const;

  const StepSequences &step;
  llvm::ArrayRef<int32_t> ids;
  Weights &weights;
  std::map<std::string, State> &states;
  const ActivationPrecision precision;
  TrainingStep *training;
  int depth = 0;  // of calls
};

// An activation function. (RowWiseOps.cpp)
double activate(ActivationKind kind, double x);

// The result of an op that treats every token alone, whose operands have as many tokens; nothing for other ops.
// (RowWiseOps.cpp)
std::optional<Matrix> evaluateRowWise(mlir::Operation *op, const Frame &frame, ActivationPrecision precision);

// The result of an op that sees earlier tokens through the state of a recurrence; nothing for other ops.
// (RecurrenceOps.cpp)
std::optional<Matrix> evaluateRecurrence(mlir::Operation *op, const Frame &frame, const StepSequences &step);

// Evaluates an operation of a backward function; false for another one. (GradientOps.cpp)
bool evaluateGradient(mlir::Operation *op, Frame &frame, llvm::ArrayRef<int32_t> ids, const StepSequences &step,
                      TrainingStep &training);

}  // namespace talc::reference
