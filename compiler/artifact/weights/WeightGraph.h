// SPDX-License-Identifier: Apache-2.0
// Gives access to the values of talc.weight symbols: opens files, checks shapes and ranges, follows recipes.
#pragma once

#include "compiler/artifact/weights/MappedFile.h"
#include "compiler/artifact/weights/WeightValues.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/WeightFiles.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace talc {

inline mlir::RankedTensorType tensorType(WeightOp weight) {
  return mlir::cast<mlir::RankedTensorType>(weight.getType());
}

class WeightGraph {
public:
  explicit WeightGraph(mlir::ModuleOp module);

  // The values before they are rounded to the weight's element type. All errors are found here, not while reading.
  llvm::Expected<WeightValuesPtr> values(WeightOp weight) { return values(weight, 0); }

  // Maps a file of weights: that which the frontend opened, if one did.
  llvm::Expected<std::shared_ptr<const MappedFile>> openFile(llvm::StringRef path);

  // Releases the memory of file pages read so far.
  void releasePages() const;

private:
  using Result = llvm::Expected<WeightValuesPtr>;

  Result values(WeightOp weight, int depth);
  Result evaluate(WeightOp weight, int depth);
  Result rounded(WeightOp weight, const WeightValuesPtr &values);
  llvm::Expected<std::vector<WeightValuesPtr>> operands(WeightOp weight, int depth);
  Result fromFile(WeightOp weight, FileSourceAttr source);

  const WeightFiles &opened;
  std::string directory;
  llvm::StringMap<WeightOp> symbols;
  llvm::StringMap<WeightValuesPtr> evaluated;
  llvm::StringMap<std::shared_ptr<const MappedFile>> files;
};

// The values that a recipe makes of `sources` (rounded to their types). Checks that shapes fit.
llvm::Expected<WeightValuesPtr> evaluateRecipe(WeightOp weight, llvm::ArrayRef<WeightValuesPtr> sources);

// "weight 'NAME' of shape [...] WHY"
llvm::Error weightError(WeightOp weight, const std::string &why);

// The number of elements. Fails if their bytes would not fit in an address space.
llvm::Expected<int64_t> elementCount(WeightOp weight);

}  // namespace talc
