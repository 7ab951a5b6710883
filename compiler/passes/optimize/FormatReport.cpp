// SPDX-License-Identifier: Apache-2.0
// Assigns the formats of a mix, and tells of formats that took the place of others.
#include "compiler/passes/optimize/FormatReport.h"

#include "compiler/passes/optimize/CallSites.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

static int64_t columns(Operation *matrix) {
  return cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getDimSize(1);
}

static bool isMatrix(Operation *weight) {
  return cast<RankedTensorType>(cast<WeightOp>(weight).getType()).getRank() == 2;
}

//===--- mixes --------------------------------------------------------------------------------------------------===//

// The number in a name such as model.layers.3.mlp; `otherwise` without one.
static int64_t layerNumber(StringRef name, int64_t otherwise) {
  for (StringRef part : llvm::split(name, '.')) {
    int64_t number;
    if (!part.getAsInteger(10, number))
      return number;
  }
  return otherwise;
}

// Feed-forward layers are counted by the layers of the model; those of experts are several in a layer.
static FormatRef mixedFormat(const FormatMix &mix, const MixedModel &model, WeightOp matrix, MatrixRole role,
                             int64_t index, int64_t count) {
  if (role == MatrixRole::Down) {
    count = model.layers;
    index = model.experts > 0 ? layerNumber(matrix.getSymName(), index) : index;
  }
  return mixedFormat(mix, model, role, index, count);
}

void assignMix(ModuleOp module, const FormatChoice &choice, FormatReport &report) {
  CallSites callSites(module);
  WeightTrace trace(module, callSites);
  const MatrixRoles &matrices = report.matrixRoles();
  llvm::DenseMap<int, int64_t> counts, indices;
  for (auto [matrix, role] : matrices.roles)
    ++counts[static_cast<int>(role)];
  for (auto [matrix, role] : matrices.roles) {
    auto weight = cast<WeightOp>(matrix);
    const auto number = static_cast<int>(role);
    FormatRef format = mixedFormat(*choice.mix, matrices.model, weight, role, indices[number]++, counts.lookup(number));
    if (!format || !isMatrix(weight))
      continue;
    report.setWanted(weight, format);
    const StorageFormat &fitting = mixedFormatForRows(*format, columns(weight));
    llvm::SetVector<Operation *> sources;
    trace.addSources(weight, sources);
    for (Operation *source : sources)
      source->setAttr(formatAttr, TypeAttr::get(fitting.type(source->getContext(), fitting)));
  }
}

//===--- the report ---------------------------------------------------------------------------------------------===//

// Lists formats with the number of their matrices, the most frequent first.
static std::string describe(llvm::MapVector<FormatRef, int64_t> &counts) {
  std::vector<std::pair<FormatRef, int64_t>> sorted(counts.begin(), counts.end());
  llvm::stable_sort(sorted, [](auto &a, auto &b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (auto [format, count] : sorted)
    texts.push_back(llvm::formatv("{0} ({1})", format->name, count));
  return llvm::join(texts, ", ");
}

// The formats that took the place of others.
static std::string describe(const llvm::MapVector<std::pair<FormatRef, FormatRef>, int64_t> &replaced) {
  std::vector<std::string> texts;
  for (auto [formats, count] : replaced)
    texts.push_back(llvm::formatv("{0} instead of {1} ({2})", formats.second->name, formats.first->name, count));
  return llvm::join(texts, ", ");
}

static FormatRef assignedFormat(Operation *matrix) {
  auto format = matrix->getAttrOfType<TypeAttr>(formatAttr);
  return format ? getStorageFormat(format.getValue()) : nullptr;
}

void FormatReport::write(bool describesMix) {
  llvm::MapVector<FormatRef, int64_t> counts;
  llvm::MapVector<std::pair<FormatRef, FormatRef>, int64_t> replaced;
  double bits = 0, values = 0;
  for (auto [matrix, role] : matrices.roles) {
    FormatRef assigned = isMatrix(matrix) ? assignedFormat(matrix) : nullptr;
    if (!assigned)
      continue;
    const StorageFormat &format = formatForRows(*assigned, columns(matrix));
    // A rule decides against the mix.
    FormatRef mixed = wanted.lookup(matrix),
              named = mixed && &mixedFormatForRows(*mixed, columns(matrix)) == assigned ? mixed : assigned;
    auto size = static_cast<double>(cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getNumElements());
    ++counts[&format];
    values += size;
    bits += size * 8 * static_cast<double>(format.blockBytes) / static_cast<double>(format.blockValues);
    if (named != &format)
      ++replaced[{named, &format}];
  }
  std::vector<std::string> texts;
  if (auto chosen = module->getAttrOfType<StringAttr>(chosenFormatsAttr))
    texts.push_back(chosen.str());
  if (describesMix)
    texts.push_back(
        llvm::formatv("{0:f3} bits a value: matrices in {1}", bits / std::max(values, 1.0), describe(counts)));
  if (!replaced.empty())
    texts.push_back("matrices whose rows are not whole blocks have " + describe(replaced));
  if (!texts.empty())
    module->setAttr(chosenFormatsAttr, StringAttr::get(module.getContext(), llvm::join(texts, "; ")));
}

}  // namespace talc
