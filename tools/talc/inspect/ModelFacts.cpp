// SPDX-License-Identifier: Apache-2.0
// Reads attributes with their types; an attribute of another type counts as absent.
#include "tools/talc/inspect/ModelFacts.h"

#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

using namespace mlir;

namespace talc::tools {

static std::string getString(DictionaryAttr attributes, llvm::StringRef key) {
  auto text = attributes.getAs<StringAttr>(key);
  return text ? text.str() : "";
}

static int64_t getInteger(DictionaryAttr attributes, llvm::StringRef key) {
  auto number = attributes.getAs<IntegerAttr>(key);
  return number ? number.getValue().getSExtValue() : 0;
}

static std::optional<double> getReal(DictionaryAttr attributes, llvm::StringRef key) {
  auto number = attributes.getAs<FloatAttr>(key);
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

static std::vector<double> getReals(DictionaryAttr attributes, llvm::StringRef key) {
  std::vector<double> values;
  if (auto list = attributes.getAs<ArrayAttr>(key))
    for (auto number : list.getAsRange<FloatAttr>())
      values.push_back(number.getValueAsDouble());
  return values;
}

static MeasuredFacts readMeasured(DictionaryAttr attributes) {
  MeasuredFacts facts;
  facts.text = getString(attributes, measuredKeys::text);
  facts.predictions = getInteger(attributes, measuredKeys::predictions);
  facts.perplexity = getReal(attributes, measuredKeys::perplexity);
  facts.divergence = getReal(attributes, measuredKeys::divergence);
  facts.maxDivergence = getReal(attributes, measuredKeys::maxDivergence).value_or(0);
  facts.sameTop = getReal(attributes, measuredKeys::sameTop).value_or(0);
  std::vector<double> means = getReals(attributes, measuredKeys::layerErrors);
  std::vector<double> maxima = getReals(attributes, measuredKeys::maxErrors);
  for (size_t i = 0; i < std::min(means.size(), maxima.size()); ++i)
    facts.layerErrors.emplace_back(means[i], maxima[i]);
  return facts;
}

void updateFacts(ModuleOp module, ModelFacts &facts) {
  DictionaryAttr attributes = module->getAttrDictionary();
  if (attributes.contains(nameAttr))
    facts.name = getString(attributes, nameAttr);
  if (attributes.contains(chosenFormatsAttr))
    facts.chosenFormats = getString(attributes, chosenFormatsAttr);
  if (attributes.contains(maxSequenceAttr))
    facts.maxSequence = getInteger(attributes, maxSequenceAttr);
  if (auto plan = attributes.getAs<DictionaryAttr>(planAttr))
    facts.memory = {getInteger(plan, planKeys::weightBytes), getInteger(plan, planKeys::kvBytesPerToken),
                    getInteger(plan, planKeys::arenaBytesPerToken)};
  if (auto measured = attributes.getAs<DictionaryAttr>(measuredAttr))
    facts.measured = readMeasured(measured);
}

// Weights that recipes make do not count.
int64_t countParameters(ModuleOp module) {
  int64_t count = 0;
  for (auto weight : module.getOps<WeightOp>())
    if (auto type = dyn_cast<ShapedType>(weight.getType()); type && !weight.getOfAttr())
      count += type.getNumElements();
  return count;
}

}  // namespace talc::tools
