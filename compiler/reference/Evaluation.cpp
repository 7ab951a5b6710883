// SPDX-License-Identifier: Apache-2.0
// Walks functions and passes every op with the contents of its operands to its definition.
#include "compiler/reference/Evaluation.h"

#include "compiler/Error.h"
#include "compiler/reference/AttentionOps.h"
#include "dialects/talc/RecurrenceOps.h"

#include "llvm/ADT/TypeSwitch.h"

namespace talc::reference {

using llvm::Error;
using llvm::Expected;

MatrixPtr Frame::matrix(mlir::Value value) const {
  const Content &content = get(value);
  if (auto *matrix = std::get_if<MatrixPtr>(&content))
    return *matrix;
  const Weight &weight = *std::get<WeightPtr>(content);
  Matrix result(weight.shape[0], weight.shape[1]);
  std::copy(weight.values.begin(), weight.values.end(), result.values.begin());
  return std::make_shared<const Matrix>(std::move(result));
}

WeightPtr Frame::weight(mlir::Value value) const {
  if (!value)
    return nullptr;
  const Content &content = get(value);
  if (auto *weight = std::get_if<WeightPtr>(&content))
    return *weight;
  const Matrix &matrix = *std::get<MatrixPtr>(content);
  return std::make_shared<const Weight>(Weight{{matrix.rows, matrix.columns}, matrix.values});
}

Expected<std::vector<MatrixPtr>> Evaluation::run(mlir::func::FuncOp entry) {
  std::vector<Content> arguments = {TokenIds{}, Borders{}};
  if (training)
    arguments.push_back(Labels{});
  Expected<std::vector<Content>> results = call(entry, arguments);
  if (!results)
    return results.takeError();
  std::vector<MatrixPtr> matrices;
  for (const Content &result : *results) {
    Frame frame;
    mlir::Value argument = entry.getBody().getArgument(0);
    frame.set(argument, result);
    matrices.push_back(frame.matrix(argument));
  }
  return matrices;
}

Expected<std::vector<Content>> Evaluation::call(mlir::func::FuncOp function, llvm::ArrayRef<Content> arguments) {
  std::string name = function.getSymName().str();
  if (!llvm::hasSingleElement(function.getBody()))
    return makeError(ErrorCode::Program, "function '{}' is not one block of code", name);
  constexpr int deepest = 64;
  if (depth == deepest)
    return makeError(ErrorCode::Program, "the calls of function '{}' do not end", name);
  ++depth;
  Frame frame;
  mlir::Block &body = function.getBody().front();
  for (auto [parameter, argument] : llvm::zip_equal(body.getArguments(), arguments))
    frame.set(parameter, argument);
  for (mlir::Operation &op : body.without_terminator())
    if (Error error = evaluateOp(&op, frame))
      return error;
  --depth;
  std::vector<Content> results;
  for (mlir::Value value : body.getTerminator()->getOperands())
    results.push_back(frame.get(value));
  return results;
}

Error Evaluation::evaluateOp(mlir::Operation *op, Frame &frame) {
  if (Error error = checkRows(op, frame))
    return error;
  if (std::optional<Matrix> result = evaluateRowWise(op, frame, precision)) {
    frame.set(op->getResult(0), std::move(*result));
    return Error::success();
  }
  if (std::optional<Matrix> result = evaluateRecurrence(op, frame, step)) {
    frame.set(op->getResult(0), std::move(*result));
    return Error::success();
  }
  if (training && evaluateGradient(op, frame, ids, step, *training))
    return Error::success();
  return llvm::TypeSwitch<mlir::Operation *, Error>(op)
      .Case<GetWeightOp, GetKvCacheOp, DeriveOp>([&](auto) { return evaluateSource(op, frame); })
      .Case<EmbeddingOp, PositionOp, TokenTypeOp, SelectOp, SliceOp>([&](auto) { return evaluateRowOp(op, frame); })
      .Case<RopeOp, KvAppendOp, KvReadOp, AttentionOp, MemoryOp>([&](auto) { return evaluateSequenceOp(op, frame); })
      .Case([&](mlir::func::CallOp call) { return evaluateCall(call, frame); })
      .Default([](mlir::Operation *op) {
        return makeError(ErrorCode::Program, "'{}' is not an operation of the talc stage",
                         op->getName().getStringRef().str());
      });
}

// Stores a result that may have failed.
template <typename Result> static Error store(Frame &frame, mlir::Value value, Expected<Result> result) {
  if (!result)
    return result.takeError();
  frame.set(value, std::move(*result));
  return Error::success();
}

static Error store(Frame &frame, mlir::Value value, Matrix result) {
  frame.set(value, std::move(result));
  return Error::success();
}

Error Evaluation::evaluateSource(mlir::Operation *op, Frame &frame) {
  return llvm::TypeSwitch<mlir::Operation *, Error>(op)
      .Case([&](GetWeightOp get) { return store(frame, get.getResult(), weights.get(get.getName())); })
      .Case([&](GetKvCacheOp get) -> Error {
        frame.set(get.getResult(), &states[get.getName().str()]);
        return Error::success();
      })
      .Case([&](DeriveOp derive) {
        std::vector<WeightPtr> sources;
        for (mlir::Value source : derive.getSources())
          sources.push_back(frame.weight(source));
        return store(frame, derive.getResult(), weights.derive(derive, sources));
      });
}

Error Evaluation::evaluateRowOp(mlir::Operation *op, Frame &frame) {
  return llvm::TypeSwitch<mlir::Operation *, Error>(op)
      .Case(
          [&](EmbeddingOp op) { return store(frame, op.getResult(), evaluate(op, ids, *frame.weight(op.getTable()))); })
      .Case([&](PositionOp op) {
        return store(frame, op.getResult(), evaluate(op, ids, step, *frame.weight(op.getTable())));
      })
      .Case([&](TokenTypeOp op) {
        return store(frame, op.getResult(), evaluate(op, step, *frame.weight(op.getTable())));
      })
      .Case([&](SelectOp op) { return store(frame, op.getResult(), evaluate(op, *frame.matrix(op.getX()), step)); })
      .Case([&](SliceOp op) { return store(frame, op.getResult(), evaluate(op, *frame.matrix(op.getX()))); });
}

Error Evaluation::evaluateSequenceOp(mlir::Operation *op, Frame &frame) {
  auto matrix = [&](mlir::Value value) { return frame.matrix(value); };
  return llvm::TypeSwitch<mlir::Operation *, Error>(op)
      .Case([&](RopeOp op) {
        return store(frame, op.getResult(), evaluate(op, *matrix(op.getX()), step, frame.weight(op.getTable()).get()));
      })
      .Case([&](KvAppendOp op) -> Error {
        evaluate(op, frame.state(op.getCache()), *matrix(op.getKeys()), *matrix(op.getValues()), step);
        return Error::success();
      })
      .Case([&](KvReadOp op) -> Error {
        auto result = evaluate(op, frame.state(op.getCache()), step);
        if (!result)
          return result.takeError();
        frame.set(op.getKeys(), std::move(result->first));
        frame.set(op.getValues(), std::move(result->second));
        return Error::success();
      })
      .Case([&](MemoryOp op) -> Error {
        return store(frame, op.getResult(),
                     evaluate(op, *matrix(op.getLocal()), *matrix(op.getQueries()), *matrix(op.getKeys()),
                              *matrix(op.getValues()), frame.state(op.getCache()), *frame.weight(op.getGates()), step));
      })
      .Case([&](AttentionOp op) -> Error {
        auto optionalMatrix = [&](mlir::Value rows) { return rows ? matrix(rows) : MatrixPtr(); };
        MatrixPtr kept = optionalMatrix(op.getSinkQueries()), rowBias = optionalMatrix(op.getRowBias());
        WeightPtr bias = frame.weight(op.getBias()), sinks = frame.weight(op.getSinks());
        AttentionInputs in = {*matrix(op.getQueries()),
                              *matrix(op.getKeys()),
                              *matrix(op.getValues()),
                              kept.get(),
                              rowBias.get(),
                              bias.get(),
                              sinks.get()};
        return store(frame, op.getResult(), evaluate(op, in, step));
      });
}

Error Evaluation::evaluateCall(mlir::func::CallOp op, Frame &frame) {
  auto module = op->getParentOfType<mlir::ModuleOp>();
  std::vector<Content> arguments;
  for (mlir::Value operand : op.getOperands())
    arguments.push_back(frame.get(operand));
  Expected<std::vector<Content>> results = call(module.lookupSymbol<mlir::func::FuncOp>(op.getCallee()), arguments);
  if (!results)
    return results.takeError();
  for (auto [value, content] : llvm::zip_equal(op.getResults(), *results))
    frame.set(value, content);
  return Error::success();
}

// The types do not say how many tokens an op receives.
Error Evaluation::checkRows(mlir::Operation *op, const Frame &frame) const {
  auto expect = [&](mlir::Value value, int64_t rows) -> Error {
    int64_t actualRows = frame.matrix(value)->rows;
    if (actualRows == rows)
      return Error::success();
    return makeError(ErrorCode::Program, "'{}' receives {} rows, expected {}", op->getName().getStringRef().str(),
                     actualRows, rows);
  };
  return llvm::TypeSwitch<mlir::Operation *, Error>(op)
      .Case([&](ExpertsOp op) { return expect(op.getRoutes(), frame.matrix(op.getX())->rows); })
      .Case([&](JoinOp op) { return expect(op.getY(), frame.matrix(op.getX())->rows); })
      .Case<AddOp, MulOp>([&](auto op) { return expect(op.getRhs(), frame.matrix(op.getLhs())->rows); })
      .Case<RopeOp, SelectOp, CausalConvOp>([&](auto op) { return expect(op.getX(), step.rows()); })
      .Case([&](KvAppendOp op) -> Error {
        Error error = expect(op.getKeys(), step.rows());
        return error ? std::move(error) : expect(op.getValues(), step.rows());
      })
      .Case([&](RecurrenceOp op) -> Error {
        for (mlir::Value value : {op.getQueries(), op.getKeys(), op.getValues(), op.getDecay(), op.getFactors()})
          if (Error error = expect(value, step.rows()))
            return error;
        return Error::success();
      })
      .Case([&](SelectiveScanOp op) -> Error {
        for (mlir::Value value : {op.getX(), op.getSteps(), op.getInput(), op.getOutput()})
          if (Error error = expect(value, step.rows()))
            return error;
        return Error::success();
      })
      .Case([&](MemoryOp op) -> Error {
        for (mlir::Value value : {op.getLocal(), op.getQueries(), op.getKeys(), op.getValues()})
          if (Error error = expect(value, step.rows()))
            return error;
        return Error::success();
      })
      .Case([&](AttentionOp op) -> Error {
        if (Error error = expect(op.getQueries(), step.rows()))
          return error;
        for (mlir::Value rows : {op.getSinkQueries(), op.getRowBias()})
          if (Error error = rows ? expect(rows, step.rows()) : Error::success())
            return error;
        int64_t keys = step.keys(keyKind(op));
        Error error = expect(op.getKeys(), keys);
        return error ? std::move(error) : expect(op.getValues(), keys);
      })
      .Default([](mlir::Operation *) { return Error::success(); });
}

}  // namespace talc::reference
