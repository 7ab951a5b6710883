// SPDX-License-Identifier: Apache-2.0
// Finds the value that kept a weight from being stored, in the weights of files that it is made of.
#include "compiler/artifact/weights/WeightRange.h"

#include "compiler/Error.h"
#include "dialects/talc/LookupSource.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace talc {

// Without branches, so that the loop vectorizes: it visits all values of a model.
bool areStorableValues(llvm::ArrayRef<float> values, bool inVector) {
  constexpr float maxValue = std::numeric_limits<float>::max();
  const float minValue = inVector ? -HUGE_VALF : -maxValue;
  unsigned wrong = 0;
  for (float value : values)
    wrong |= unsigned(!(value >= minValue)) | unsigned(!(value <= maxValue));
  return !wrong;
}

namespace {

// A weight as the model's files have it.
struct Source {
  WeightOp weight;
  llvm::SmallVector<FormatRef> formats;  // on the way to the stored weight, its own one last
  int64_t largest = 0;                   // the element of the largest finite number
  float value = 0;                       // this number

  RankedTensorType type() { return tensorType(weight); }
};

}  // namespace

// What recipes make a weight of, which is stored in the last of `formats`. Recipes may share what they take: each
// weight is visited once.
static void findSources(WeightOp weight, llvm::SmallVector<FormatRef> formats, llvm::DenseSet<Operation *> &visited,
                        std::vector<Source> &sources) {
  if (!visited.insert(weight).second)
    return;
  ArrayAttr of = weight.getOf() ? *weight.getOf() : ArrayAttr();
  if (!of || of.empty())
    sources.push_back({weight, formats});
  for (Attribute source : of ? of.getValue() : llvm::ArrayRef<Attribute>())
    if (auto symbol = weight->getParentOfType<ModuleOp>().lookupSymbol<WeightOp>(cast<FlatSymbolRefAttr>(source))) {
      llvm::SmallVector<FormatRef> longer{&elementFormat(tensorType(symbol))};
      longer.append(formats);
      findSources(symbol, longer, visited, sources);
    }
}

// The indices of an element, as in "[3, 5]".
static std::string indexText(RankedTensorType type, int64_t element) {
  llvm::SmallVector<std::string> indices;
  for (int64_t size : llvm::reverse(type.getShape())) {
    indices.push_back(std::to_string(element % size));
    element /= size;
  }
  return "[" + llvm::join(llvm::reverse(indices), ", ") + "]";
}

static std::string filePrefix(WeightOp source) {
  if (auto plain = dyn_cast<FileSourceAttr>(source.getSource()))
    return plain.getPath().str() + ": ";
  if (auto quantized = dyn_cast<QuantizedSourceAttr>(source.getSource()))
    return quantized.getCodes().getPath().str() + ": ";
  if (auto lookup = dyn_cast<LookupSourceAttr>(source.getSource()))
    return lookup.getCodes().getPath().str() + ": ";
  return "";
}

static llvm::Error notFinite(WeightOp source, int64_t element, float value) {
  bool isProduct = isa<QuantizedSourceAttr, LookupSourceAttr>(source.getSource());
  return makeError(ErrorCode::WeightRange,
                   "{}weight '{}' has the value {} at {}{}, expected a finite number; was the model converted and "
                   "downloaded correctly?",
                   filePrefix(source), source.getSymName().str(), value, indexText(tensorType(source), element),
                   isProduct ? ", a code times its scale" : "");
}

// Finds the largest number on the way.
static llvm::Error checkFinite(Source &source, bool inVector, WeightGraph &graph) {
  auto values = graph.values(source.weight);
  if (!values)
    return values.takeError();
  auto [rows, columns] = (*values)->shape;
  std::vector<float> row(columns);
  for (int64_t number = 0; number < rows; ++number) {
    (*values)->read({number, 0, 1, columns}, row.data(), columns);
    for (int64_t column = 0; column < columns; ++column) {
      int64_t element = number * columns + column;
      if (!areStorableValues(row[column], inVector))
        return notFinite(source.weight, element, row[column]);
      if (std::isfinite(row[column]) && std::fabs(row[column]) > std::fabs(source.value))
        source.largest = element, source.value = row[column];
    }
  }
  return llvm::Error::success();
}

// Whether a block may have this value everywhere.
static bool fits(float value, const StorageFormat &format) {
  std::vector<float> block(format.jointValues(), value);
  std::vector<uint8_t> bytes(format.byteSize(format.jointValues()));
  return format.exact || format.encode(block.data(), format.jointValues(), 1, bytes.data());
}

static llvm::Error checkRange(Source &source) {
  for (FormatRef format : source.formats)
    if (!fits(source.value, *format))
      return makeError(ErrorCode::WeightRange,
                       "{}weight '{}' has the value {} at {}, too large for {}; compile with --weights=f32",
                       filePrefix(source.weight), source.weight.getSymName().str(), source.value,
                       indexText(source.type(), source.largest), format->name);
  return llvm::Error::success();
}

static std::string listNames(llvm::MutableArrayRef<Source> sources) {
  constexpr size_t maxNames = 8;
  auto shown = llvm::map_range(sources.take_front(maxNames), [](Source &source) { return source.weight.getSymName(); });
  std::string names = "'" + llvm::join(shown, "', '") + "'";
  return sources.size() > maxNames ? fmt::format("{} and {} others", names, sources.size() - maxNames) : names;
}

// No source's value is too large by itself, but what recipes make of them is.
static llvm::Error madeTooLarge(WeightOp weight, const StorageFormat &format, llvm::MutableArrayRef<Source> sources) {
  std::string name = weight.getSymName().str();
  if (format.exact)
    return makeError(ErrorCode::WeightRange,
                     "weight '{}' has an infinite value, which a recipe makes of {}; was the model converted and "
                     "downloaded correctly?",
                     name, listNames(sources));
  return makeError(ErrorCode::WeightRange,
                   "weight '{}' has a value that is too large for {}, which a recipe makes of {}; compile with "
                   "--weights=f32",
                   name, format.name, listNames(sources));
}

llvm::Error outOfRangeError(WeightOp weight, const StorageFormat &format, WeightGraph &graph) {
  llvm::DenseSet<Operation *> visited;
  std::vector<Source> sources;
  findSources(weight, {&format}, visited, sources);
  for (Source &source : sources)
    if (llvm::Error error = checkFinite(source, tensorType(weight).getRank() < 2, graph))
      return error;
  for (Source &source : sources)
    if (llvm::Error error = checkRange(source))
      return error;
  return madeTooLarge(weight, format, sources);
}

}  // namespace talc
