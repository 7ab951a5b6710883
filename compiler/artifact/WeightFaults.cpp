// SPDX-License-Identifier: Apache-2.0
// Looks for the value again that a weight could not be stored with, in the weights of files that it is made of.
#include "compiler/artifact/WeightFaults.h"

#include "compiler/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace talc {

// Without branches, so that the loop vectorizes: it visits all values of a model.
bool areStorable(llvm::ArrayRef<float> values, bool inVector) {
  constexpr float most = std::numeric_limits<float>::max();
  const float least = inVector ? -HUGE_VALF : -most;
  unsigned wrong = 0;
  for (float value : values)
    wrong |= unsigned(!(value >= least)) | unsigned(!(value <= most));
  return !wrong;
}

static RankedTensorType typeOf(WeightOp weight) {
  return cast<RankedTensorType>(weight.getType());
}

// The weights that recipes make this one of, as the model's files have them.
static void findSources(WeightOp weight, llvm::SetVector<Operation *> &sources) {
  constexpr size_t most = 8;
  ArrayAttr of = weight.getOf() ? *weight.getOf() : ArrayAttr();
  if (!of || of.empty())
    sources.insert(weight);
  for (Attribute source : of ? of.getValue() : llvm::ArrayRef<Attribute>())
    if (auto made = weight->getParentOfType<ModuleOp>().lookupSymbol<WeightOp>(cast<FlatSymbolRefAttr>(source));
        made && sources.size() < most)
      findSources(made, sources);
}

// Where the element lies, as in "[3, 5]".
static std::string placeOf(RankedTensorType type, int64_t element) {
  llvm::SmallVector<std::string> indices;
  for (int64_t size : llvm::reverse(type.getShape())) {
    indices.push_back(std::to_string(element % size));
    element /= size;
  }
  return "[" + llvm::join(llvm::reverse(indices), ", ") + "]";
}

static llvm::Error notStorable(WeightOp source, int64_t element, float value) {
  std::string file, reason;
  if (auto plain = dyn_cast<FileSourceAttr>(source.getSource()))
    file = plain.getPath().str() + ": ";
  if (auto quantized = dyn_cast<QuantizedSourceAttr>(source.getSource())) {
    file = quantized.getLevels().getPath().str() + ": ";
    reason = ", a level times its scale";
  }
  return makeError(ErrorCode::WeightRange,
                   "{}weight '{}' has the value {} at {}{}, expected a finite number; was the model converted and "
                   "downloaded correctly?",
                   file, source.getSymName().str(), value, placeOf(typeOf(source), element), reason);
}

static llvm::Error checkSource(WeightOp source, WeightGraph &graph) {
  auto values = graph.values(source);
  if (!values)
    return values.takeError();
  auto [rows, columns] = (*values)->shape;
  bool isVector = typeOf(source).getRank() < 2;
  std::vector<float> row(columns);
  for (int64_t number = 0; number < rows; ++number) {
    (*values)->read({number, 0, 1, columns}, row.data(), columns);
    for (int64_t column = 0; column < columns; ++column)
      if (!areStorable(row[column], isVector))
        return notStorable(source, number * columns + column, row[column]);
  }
  return llvm::Error::success();
}

llvm::Error unstorable(WeightOp weight, const StorageFormat &format, WeightGraph &graph) {
  llvm::SetVector<Operation *> sources;
  findSources(weight, sources);
  for (Operation *source : sources)
    if (llvm::Error error = checkSource(cast<WeightOp>(source), graph))
      return error;
  auto names = llvm::map_range(sources, [](Operation *source) { return cast<WeightOp>(source).getSymName(); });
  return makeError(ErrorCode::WeightRange,
                   "weight '{}' has a value that is too large for {}; compile with --weights=f32",
                   llvm::join(names, "' or '"), format.name);
}

}  // namespace talc
