// SPDX-License-Identifier: Apache-2.0
// Checks a module, lays the sequences of a step end to end, and keeps what lasts between steps.
#include "compiler/reference/Interpreter.h"

#include "compiler/Error.h"
#include "compiler/reference/Evaluation.h"

#include <set>

namespace talc::reference {

// Only the first dimension of a tensor, the tokens, may be dynamic.
static llvm::Error checkType(mlir::Operation *op, mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || tensor.getRank() < 2 || llvm::none_of(tensor.getShape().drop_front(), mlir::ShapedType::isDynamic))
    return llvm::Error::success();
  return makeError(ErrorCode::Program, "'{}' has a dynamic number of features", op->getName().getStringRef().str());
}

static llvm::Error checkTypes(mlir::ModuleOp module) {
  llvm::Error error = llvm::Error::success();
  module.walk([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      if (!error)
        error = checkType(op, type);
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (mlir::Type type : block.getArgumentTypes())
          if (!error)
            error = checkType(op, type);
  });
  return error;
}

static llvm::Error checkEntry(mlir::func::FuncOp entry) {
  mlir::FunctionType type = entry.getFunctionType();
  if (type.getNumInputs() == 2 && type.getNumResults() == 1 && mlir::isa<SequencesType>(type.getInput(1))) {
    auto ids = mlir::dyn_cast<mlir::RankedTensorType>(type.getInput(0));
    auto result = mlir::dyn_cast<mlir::RankedTensorType>(type.getResult(0));
    if (ids && ids.getRank() == 1 && ids.getElementType().isInteger(32) && result && result.getRank() == 2 &&
        result.getElementType().isF32())
      return llvm::Error::success();
  }
  return makeError(ErrorCode::Program,
                   "the entry function '{}' must be (tensor<?xi32>, !talc.sequences) -> tensor<?xNxf32>",
                   entry.getSymName().str());
}

llvm::Expected<Interpreter> Interpreter::create(mlir::ModuleOp module) {
  mlir::func::FuncOp entry, decode;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function->hasAttr(entryAttr))
      continue;
    if (llvm::Error error = checkEntry(function))
      return error;
    auto phase = function->getAttrOfType<mlir::StringAttr>(phaseAttr);
    mlir::func::FuncOp &place = phase && phase.getValue() == decodePhase ? decode : entry;
    if (place)
      return makeError(ErrorCode::Program, "the module has two functions with the attribute {}", entryAttr.str());
    place = function;
  }
  if (!entry)
    return makeError(ErrorCode::Program, "the module has no function with the attribute {}", entryAttr.str());
  if (llvm::Error error = checkTypes(module))
    return error;
  return Interpreter(module, entry, decode);
}

llvm::Error Interpreter::checkLength(int64_t length) {
  auto limit = module->getAttrOfType<mlir::IntegerAttr>(maxSequenceAttr);
  if (limit && length > limit.getInt())
    return makeError(ErrorCode::Usage, "a sequence of {} tokens is longer than the model's {}", length, limit.getInt());
  for (auto state : module.getOps<StateOp>()) {
    int64_t capacity = mlir::cast<StateType>(state.getType()).getCapacity();
    if (length > capacity)
      return makeError(ErrorCode::Usage, "a sequence of {} tokens does not fit in the state '{}' of {}", length,
                       state.getSymName().str(), capacity);
  }
  return llvm::Error::success();
}

llvm::Expected<StepSequences> Interpreter::layOut(llvm::ArrayRef<Sequence> sequences) {
  StepSequences result;
  std::set<int> slots;
  for (const Sequence &sequence : sequences) {
    if (sequence.ids.empty())
      return makeError(ErrorCode::Usage, "a sequence brings no token to the step");
    if (!slots.insert(sequence.slot).second)
      return makeError(ErrorCode::Usage, "two sequences of a step share the slot {}", sequence.slot);
    SequenceRows rows{sequence.slot, result.rows(), static_cast<int64_t>(sequence.ids.size()), position(sequence.slot)};
    if (llvm::Error error = checkLength(rows.length()))
      return error;
    for (int64_t r = 0; r < rows.rows; ++r) {
      if (sequence.allOutputs || r == rows.rows - 1)
        result.outputs.push_back(rows.firstRow + r);
      result.positions.push_back(rows.firstPosition + r);
    }
    result.sequences.push_back(rows);
  }
  return result;
}

llvm::Expected<Matrix> Interpreter::step(llvm::ArrayRef<Sequence> sequences) {
  llvm::Expected<StepSequences> layout = layOut(sequences);
  if (!layout)
    return layout.takeError();
  std::vector<int32_t> ids;
  for (const Sequence &sequence : sequences)
    ids.insert(ids.end(), sequence.ids.begin(), sequence.ids.end());
  Evaluation evaluation(*layout, ids, weights, states);
  llvm::Expected<MatrixPtr> result = evaluation.run(decode && layout->rows() == 1 ? decode : entry);
  if (!result)
    return result.takeError();
  for (const SequenceRows &sequence : layout->sequences)
    lengths[sequence.slot] = sequence.length();
  return **result;
}

int64_t Interpreter::position(int slot) const {
  auto length = lengths.find(slot);
  return length == lengths.end() ? 0 : length->second;
}

void Interpreter::release(int slot) {
  lengths.erase(slot);
  for (auto &state : states)
    state.second.erase(slot);
}

}  // namespace talc::reference
