// SPDX-License-Identifier: Apache-2.0
// Finds the weights that the file's entries are of. A matrix that was made of others, such as those of experts, has
// their numbers one after the other, or once if they are the same.
#include "tools/talc/ImportanceMatrix.h"

#include "compiler/Error.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"
#include "frontends/gguf/ImportanceFile.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace talc::tools {

namespace {

class ImportanceNotes {
public:
  ImportanceNotes(ModuleOp module, const ImportanceTable &table, const std::string &path)
      : symbols(module), table(table), path(path) {}

  llvm::Error note(WeightOp matrix) {
    auto type = cast<RankedTensorType>(matrix.getType());
    if (type.getRank() != 2)
      return llvm::Error::success();
    SmallVector<WeightOp> sources;
    addSources(matrix, sources);
    std::vector<std::vector<float>> parts;
    for (WeightOp source : sources) {
      parts.push_back(
          importanceOf(table, std::string(chosenName(source.getSymName())) + ".weight", type.getDimSize(1)));
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
                       "--calibrate: {}: has {} values for {}, expected {}, or so many for each expert", path, count,
                       matrix.getSymName().str(), columns);
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
  const ImportanceTable &table;
  const std::string &path;
};

}  // namespace

llvm::Error noteImportance(ModuleOp module, const std::string &path) {
  Diagnostics diagnostics;
  auto table = readImportance(path, diagnostics);
  if (!table)
    return llvm::createStringError(llvm::join(diagnostics.errors(), "\n"));
  ImportanceNotes notes(module, *table, path);
  for (auto weight : module.getOps<WeightOp>())
    if (llvm::Error error = notes.note(weight))
      return error;
  return notes.matrices > 0 ? llvm::Error::success()
                            : makeError(ErrorCode::Usage, "--calibrate: {}: speaks of no matrix of the model", path);
}

}  // namespace talc::tools
