// SPDX-License-Identifier: Apache-2.0
// Finds the weights that the entries of the file are for. A matrix made of others, such as those of experts, has their
// values one after the other, or once if they are equal.
#include "compiler/Error.h"
#include "compiler/quantize/Calibration.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace talc {

namespace {

class ImportanceReader {
public:
  ImportanceReader(ModuleOp module, const CalibrationOptions &options) : symbols(module), options(options) {}

  llvm::Error read(WeightOp matrix) {
    auto type = cast<RankedTensorType>(matrix.getType());
    if (type.getRank() != 2)
      return llvm::Error::success();
    SmallVector<WeightOp> sources;
    addSources(matrix, sources);
    std::vector<std::vector<float>> parts;
    for (WeightOp source : sources) {
      std::string tensor = std::string(chosenName(source.getSymName())) + ".weight";
      parts.push_back(options.importance(tensor, type.getDimSize(1)));
      if (parts.back().empty())
        return llvm::Error::success();
    }
    if (llvm::all_equal(parts))
      parts.resize(1);
    std::vector<float> all;
    for (const std::vector<float> &part : parts)
      all.insert(all.end(), part.begin(), part.end());
    int64_t count = static_cast<int64_t>(all.size()), columns = type.getDimSize(1);
    if (count < columns || count % columns != 0 || type.getDimSize(0) % (count / columns) != 0)
      return makeError(ErrorCode::Usage,
                       "--calibrate: {}: has {} values for {}, expected {}, or so many for each expert", options.file,
                       count, matrix.getSymName().str(), columns);
    matrix->setAttr(importanceAttr, DenseF32ArrayAttr::get(matrix->getContext(), all));
    ++matrices;
    return llvm::Error::success();
  }

  int64_t matrices = 0;

private:
  void addSources(WeightOp weight, SmallVectorImpl<WeightOp> &sources) {
    if (!weight.getOf()) {
      sources.push_back(weight);
      return;
    }
    for (auto symbol : weight.getOf()->getAsRange<FlatSymbolRefAttr>())
      if (auto source = symbols.lookup<WeightOp>(symbol.getValue()))
        addSources(source, sources);
  }

  SymbolTable symbols;
  const CalibrationOptions &options;
};

}  // namespace

llvm::Error applyImportanceMatrix(ModuleOp module, const CalibrationOptions &options) {
  ImportanceReader reader(module, options);
  for (auto weight : module.getOps<WeightOp>())
    if (llvm::Error error = reader.read(weight))
      return error;
  if (reader.matrices > 0)
    return llvm::Error::success();
  return makeError(ErrorCode::Usage, "--calibrate: {}: speaks of no matrix of the model", options.file);
}

}  // namespace talc
