// SPDX-License-Identifier: Apache-2.0
// Looks for the entry functions and checks what the verifiers do not.
#include "compiler/reference/Interpreter.h"

#include "compiler/Error.h"
#include "dialects/talc/TalcDialect.h"

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

static bool isIds(mlir::Type type) {
  auto ids = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return ids && ids.getRank() == 1 && ids.getElementType().isInteger(32);
}

// (ids, sequences) -> activations..., or (ids, sequences, labels) -> loss
static llvm::Error checkEntry(mlir::func::FuncOp entry) {
  mlir::FunctionType type = entry.getFunctionType();
  auto isResult = [](mlir::Type type) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && tensor.getRank() == 2 && tensor.getElementType().isF32();
  };
  bool takesLabels = type.getNumInputs() == 3 && isIds(type.getInput(2));
  if ((type.getNumInputs() == 2 || takesLabels) && mlir::isa<SequencesType>(type.getInput(1)) &&
      isIds(type.getInput(0)) && llvm::all_of(type.getResults(), isResult))
    return llvm::Error::success();
  return makeError(ErrorCode::Program,
                   "the entry function '{}' must be (tensor<?xi32>, !talc.sequences) -> tensor<?xNxf32>",
                   entry.getSymName().str());
}

// The encoder of an encoder-decoder is the entry without results.
static llvm::Expected<Entries> findEntries(mlir::ModuleOp module) {
  Entries found;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function->hasAttr(entryAttr))
      continue;
    if (llvm::Error error = checkEntry(function))
      return error;
    auto name = function->getAttrOfType<mlir::StringAttr>(entryNameAttr);
    bool isDecode = name && name.getValue() == decodeEntry;
    mlir::func::FuncOp &place = function.getNumResults() == 0 ? found.encode : isDecode ? found.decode : found.entry;
    if (place)
      return makeError(ErrorCode::Program, "the module has two functions with the attribute {}", entryAttr.str());
    place = function;
  }
  if (!found.entry)
    return makeError(ErrorCode::Program, "the module has no function with the attribute {} and results",
                     entryAttr.str());
  return found;
}

llvm::Expected<Entries> Entries::find(mlir::ModuleOp module) {
  llvm::Expected<Entries> entries = findEntries(module);
  if (!entries)
    return entries.takeError();
  if (llvm::Error error = checkTypes(module))
    return error;
  return entries;
}

}  // namespace talc::reference
