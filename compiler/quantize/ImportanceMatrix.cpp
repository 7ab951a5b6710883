// SPDX-License-Identifier: Apache-2.0
// Finds the weights that the entries of the file are for: the matrices that layers multiply by. Their columns are input
// features, whatever the order of the checkpoint, which may have a matrix transposed (GPT-2). A matrix made of others,
// such as those of experts, has their values one after the other, or once if they are equal.
#include "compiler/Error.h"
#include "compiler/passes/optimize/FormatUnits.h"
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
    SmallVector<Source> sources;
    addSources(matrix, /*isTransposed=*/false, sources);
    std::vector<std::vector<float>> parts;
    for (Source source : sources) {
      parts.push_back(options.importance(source.weight.getSymName().str(), type.getDimSize(1), source.isTransposed));
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
  // A matrix is made of this weight or of its transpose.
  struct Source {
    WeightOp weight;
    bool isTransposed;
  };

  void addSources(WeightOp weight, bool isTransposed, SmallVectorImpl<Source> &sources) {
    if (!weight.getOf()) {
      sources.push_back({weight, isTransposed});
      return;
    }
    isTransposed ^= isa<TransposeRecipeAttr>(weight.getSource());
    for (auto symbol : weight.getOf()->getAsRange<FlatSymbolRefAttr>())
      if (auto source = symbols.lookup<WeightOp>(symbol.getValue()))
        addSources(source, isTransposed, sources);
  }

  SymbolTable symbols;
  const CalibrationOptions &options;
};

}  // namespace

llvm::Error applyImportanceMatrix(ModuleOp module, const CalibrationOptions &options) {
  ImportanceReader reader(module, options);
  for (const FormatUnit &unit : findFormatUnits(module, FormatChoice()))
    for (Operation *matrix : unit.matrices)
      if (llvm::Error error = reader.read(cast<WeightOp>(matrix)))
        return error;
  if (reader.matrices > 0)
    return llvm::Error::success();
  return makeError(ErrorCode::Usage, "--calibrate: {}: speaks of no matrix of the model", options.file);
}

}  // namespace talc
