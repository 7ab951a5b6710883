// SPDX-License-Identifier: Apache-2.0
// Follows the sources and recipes of weights.
#include "compiler/artifact/weights/WeightGraph.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/Importance.h"
#include "compiler/artifact/weights/WeightSources.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace talc {

constexpr int64_t maxElements = int64_t(1) << 44;
constexpr int maxDepth = 64;  // recipes upon recipes

static std::string shapeText(RankedTensorType type) {
  return fmt::format("[{}]", fmt::join(type.getShape(), ", "));
}

static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

llvm::Error weightError(WeightOp weight, const std::string &why) {
  return makeError(ErrorCode::WeightRecipe, "weight '{}' of shape {} {}", weight.getSymName().str(),
                   shapeText(tensorType(weight)), why);
}

llvm::Expected<int64_t> elementCount(WeightOp weight) {
  int64_t count = 1;
  for (int64_t size : tensorType(weight).getShape())
    if (llvm::MulOverflow(count, size, count) || count > maxElements)
      return weightError(weight, "is too large");
  return count;
}

WeightGraph::WeightGraph(ModuleOp module) : opened(WeightFiles::get(*module.getContext())) {
  if (auto attr = module->getAttrOfType<StringAttr>(directoryAttr))
    directory = attr.str();
  for (WeightOp weight : module.getOps<WeightOp>())
    symbols[weight.getSymName()] = weight;
}

void WeightGraph::releasePages() const {
  for (const auto &file : files)
    file.second->releasePages();
}

llvm::Expected<std::shared_ptr<const MappedFile>> WeightGraph::openFile(llvm::StringRef path) {
  llvm::SmallString<128> full(directory);
  if (llvm::sys::path::is_absolute(path))
    full = path;
  else
    llvm::sys::path::append(full, path);
  if (auto mapped = files.lookup(full))
    return mapped;
  int descriptor = opened.find(full);
  auto mapped = descriptor < 0 ? MappedFile::open(full.str().str()) : MappedFile::map(full.str().str(), descriptor);
  if (mapped)
    files[full] = *mapped;
  return mapped;
}

WeightGraph::Result WeightGraph::values(WeightOp weight, int depth) {
  auto it = evaluated.find(weight.getSymName());
  if (it != evaluated.end())
    return it->second;
  if (depth > maxDepth)
    return weightError(weight,
                       fmt::format("is made from itself, or by more than {} recipes upon each other", maxDepth));
  if (llvm::Expected<int64_t> count = elementCount(weight); !count)
    return count.takeError();
  Result result = evaluate(weight, depth);
  if (result)
    result = rounded(weight, *result);
  if (result)
    evaluated[weight.getSymName()] = *result;
  return result;
}

// A matrix whose values are those of certain blocks.
WeightGraph::Result WeightGraph::rounded(WeightOp weight, const WeightValuesPtr &values) {
  auto chosen = weight->getAttrOfType<TypeAttr>(quantizeToAttr);
  if (!chosen)
    return values;
  const StorageFormat *format = getStorageFormat(chosen.getValue());
  if (!format || format->blockValues == 1 || values->shape.columns % format->blockValues != 0)
    return weightError(weight, fmt::format("cannot be rounded to {}, expected a format whose blocks divide its rows",
                                           printed(chosen.getValue())));
  auto importance = Importance::of(weight, values->shape);
  if (!importance)
    return importance.takeError();
  return importanceWeightedValues(values, *format, *importance);
}

WeightGraph::Result WeightGraph::evaluate(WeightOp weight, int depth) {
  RankedTensorType type = tensorType(weight);
  MatrixShape shape = matrixShape(type);
  Attribute source = weight.getSource();
  if (auto file = dyn_cast<FileSourceAttr>(source))
    return fromFile(weight, file);
  if (auto quantized = dyn_cast<QuantizedSourceAttr>(source))
    return quantizedValues(weight, quantized, [&](llvm::StringRef path) { return openFile(path); });
  if (auto lookup = dyn_cast<LookupSourceAttr>(source))
    return lookedUpValues(weight, lookup, [&](llvm::StringRef path) { return openFile(path); });
  if (auto random = dyn_cast<RandomSourceAttr>(source))
    return randomValues(random.getSeed(), random.getMean().convertToDouble(), random.getDeviation().convertToDouble(),
                        shape);
  if (auto fill = dyn_cast<FillSourceAttr>(source))
    return fillValues(static_cast<float>(fill.getValue().convertToDouble()), shape);
  auto toFloat = [](APFloat value) {
    bool inexact;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    return value.convertToFloat();
  };
  if (auto listed = dyn_cast<ValuesSourceAttr>(source)) {
    DenseFPElementsAttr values = listed.getValues();
    if (values.isSplat())
      return fillValues(toFloat(values.getSplatValue<APFloat>()), shape);
    auto floats = llvm::map_range(values.getValues<APFloat>(), toFloat);
    return listedValues({floats.begin(), floats.end()}, shape);
  }
  auto sources = operands(weight, depth);
  if (!sources)
    return sources.takeError();
  return evaluateRecipe(weight, *sources);
}

WeightGraph::Result WeightGraph::fromFile(WeightOp weight, FileSourceAttr source) {
  auto file = openFile(source.getPath());
  if (!file)
    return file.takeError();
  const StorageFormat &format = *getStorageFormat(source.getElementType());
  int64_t bytes = format.byteSize(*elementCount(weight));
  auto present = static_cast<int64_t>((*file)->bytes().size());
  if (source.getOffset() > present || bytes > present - source.getOffset())
    return makeError(ErrorCode::WeightFile,
                     "{}: weight '{}' of shape {} needs {} bytes from byte {} on, but the file has {} bytes; was it "
                     "downloaded completely?",
                     source.getPath().str(), weight.getSymName().str(), shapeText(tensorType(weight)), bytes,
                     source.getOffset(), present);
  return fileValues(*file, source.getOffset(), format, matrixShape(tensorType(weight)));
}

llvm::Expected<std::vector<WeightValuesPtr>> WeightGraph::operands(WeightOp weight, int depth) {
  std::vector<WeightValuesPtr> result;
  if (!weight.getOf())
    return result;
  for (auto symbol : weight.getOf()->getAsRange<FlatSymbolRefAttr>()) {
    auto it = symbols.find(symbol.getValue());
    if (it == symbols.end())
      return weightError(weight, fmt::format("is made from '{}', which does not exist", symbol.getValue().str()));
    Result source = values(it->second, depth + 1);
    if (!source)
      return source.takeError();
    RankedTensorType type = tensorType(it->second);
    result.push_back(roundedValues(*source, elementFormat(type), getPanelLanes(type)));
  }
  return result;
}

}  // namespace talc
