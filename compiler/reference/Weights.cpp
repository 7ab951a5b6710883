// SPDX-License-Identifier: Apache-2.0
// Looks up weights, evaluates each once, and reports weights that depend on themselves.
#include "compiler/reference/Weights.h"

#include "compiler/Error.h"
#include "compiler/reference/StoredValues.h"
#include "compiler/reference/WeightSources.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "mlir/IR/SymbolTable.h"

namespace talc::reference {

llvm::Expected<WeightPtr> Weights::get(llvm::StringRef name) {
  auto it = values.find(name.str());
  if (it != values.end())
    return it->second;
  auto op = llvm::dyn_cast_or_null<WeightOp>(mlir::SymbolTable::lookupSymbolIn(module, name));
  if (!op)
    return makeError(ErrorCode::WeightRecipe, "weight '{}' is used but not defined", name.str());
  if (!open.insert(name.str()).second)
    return makeError(ErrorCode::WeightRecipe, "weight '{}' is made from itself", name.str());
  llvm::Expected<Weight> weight = evaluate(op);
  open.erase(name.str());
  if (!weight)
    return weight.takeError();
  if (llvm::Error error = round(op, *weight))
    return std::move(error);
  return values[name.str()] = std::make_shared<Weight>(std::move(*weight));
}

llvm::Expected<Weight *> Weights::edit(llvm::StringRef name) {
  llvm::Expected<WeightPtr> weight = get(name);
  if (!weight)
    return weight.takeError();
  return values[name.str()].get();
}

// Rounds a weight to the blocks of its quantize_to.
llvm::Error Weights::round(WeightOp op, Weight &weight) {
  auto rounded = op->getAttrOfType<mlir::TypeAttr>(quantizeToAttr);
  if (!rounded)
    return llvm::Error::success();
  const StorageFormat *format = getStorageFormat(rounded.getValue());
  auto noted = op->getAttrOfType<mlir::DenseF32ArrayAttr>(importanceAttr);
  llvm::ArrayRef<float> importance = noted ? noted.asArrayRef() : llvm::ArrayRef<float>();
  bool fits = format && knowsBlocks(format->name) && weight.shape.size() == 2 &&
              weight.shape[1] % format->blockValues == 0 && importance.size() % weight.shape[1] == 0;
  int64_t parts = fits ? std::max<int64_t>(1, importance.size() / weight.shape[1]) : 1;
  if (!fits || weight.shape[0] % parts != 0)
    return makeError(ErrorCode::WeightRecipe, "weight '{}' cannot be rounded as its {} says", op.getSymName().str(),
                     quantizeToAttr);
  roundRows(weight, *format, importance);
  return llvm::Error::success();
}

llvm::Expected<Weight> Weights::evaluate(WeightOp op) {
  std::string name = op.getSymName().str();
  auto type = mlir::cast<mlir::RankedTensorType>(op.getType());
  auto attr = module->getAttrOfType<mlir::StringAttr>(directoryAttr);
  llvm::StringRef directory = attr ? attr.getValue() : "";
  if (auto file = mlir::dyn_cast<FileSourceAttr>(op.getSource()))
    return readFile(name, directory, file, type);
  if (auto quantized = mlir::dyn_cast<QuantizedSourceAttr>(op.getSource()))
    return readQuantized(name, directory, quantized, type);
  if (auto lookup = mlir::dyn_cast<LookupSourceAttr>(op.getSource()))
    return readLookup(name, directory, lookup, type);
  if (auto random = mlir::dyn_cast<RandomSourceAttr>(op.getSource()))
    return drawRandom(name, random, type);
  if (auto listed = mlir::dyn_cast<ValuesSourceAttr>(op.getSource()))
    return listValues(name, listed, type);
  return evaluateRecipe(op);
}

llvm::Expected<Weight> Weights::evaluateRecipe(WeightOp op) {
  std::vector<WeightPtr> sources;
  if (op.getOf()) {
    for (auto name : op.getOf()->getAsRange<mlir::FlatSymbolRefAttr>()) {
      llvm::Expected<WeightPtr> source = get(name.getValue());
      if (!source)
        return source.takeError();
      sources.push_back(*source);
    }
  }
  return applyRecipe(op.getSymName().str(), op.getSource(), sources, mlir::cast<mlir::RankedTensorType>(op.getType()));
}

llvm::Expected<WeightPtr> Weights::derive(DeriveOp op, const std::vector<WeightPtr> &sources) {
  auto key = std::make_pair(op.getOperation(), sources);
  auto it = derived.find(key);
  if (it != derived.end())
    return it->second;
  auto type = mlir::cast<mlir::RankedTensorType>(op.getResult().getType());
  llvm::Expected<Weight> weight = applyRecipe("of a talc.derive", op.getRecipe(), sources, type);
  if (!weight)
    return weight.takeError();
  return derived[key] = std::make_shared<Weight>(std::move(*weight));
}

}  // namespace talc::reference
