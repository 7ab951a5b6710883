// SPDX-License-Identifier: Apache-2.0
// Lists a model's results, plan, kernels and weights as JSON.
#include "compiler/artifact/Sections.h"

#include "dialects/talc/LookupSource.h"
#include "dialects/talc/ModelName.h"
#include "dialects/talc/ModuleKeys.h"
#include "runtime/artifact/Entries.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace talc {

static Json describeWeight(const PlacedWeight &placed) {
  WeightOp weight = placed.weight;
  auto type = cast<RankedTensorType>(weight.getType());
  return {{"name", weight.getSymName().str()},
          {"type", elementFormat(type).name},
          {"shape", type.getShape().vec()},
          {"offset", placed.offset},
          {"bytes", placed.bytes}};
}

// The settings of generation as the module's attribute has them; what is not said there is neutral.
static Json describeSettings(DictionaryAttr settings) {
  Json object = Json::object();
  auto add = [&](const char *name, Attribute value) {
    if (auto text = dyn_cast_or_null<StringAttr>(value))
      object[name] = text.str();
    else if (auto flag = dyn_cast_or_null<BoolAttr>(value))
      object[name] = flag.getValue();
    else if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
      object[name] = integer.getInt();
    else if (auto number = dyn_cast_or_null<FloatAttr>(value))
      object[name] = number.getValueAsDouble();
    else if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(value))
      object[name] = list.asArrayRef().vec();
  };
  artifact::forEachSetting([&](const artifact::Setting &setting) { add(setting.name, settings.get(setting.name)); });
  artifact::forEachTokenList(
      [&](const artifact::TokenListSetting &setting) { add(setting.name, settings.get(setting.name)); });
  return object;
}

static Json describeWords(ArrayAttr words) {
  Json list = Json::array();
  for (auto word : words.getAsRange<StringAttr>())
    list.push_back(word.str());
  return list;
}

// Texts, numbers and lists of texts of a dictionary.
// A text, a number or a list of them; null: something else.
static Json describe(Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  if (auto number = dyn_cast<IntegerAttr>(value))
    return number.getValue().getSExtValue();
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValueAsDouble();
  auto list = dyn_cast<ArrayAttr>(value);
  Json all = list ? Json::array() : Json();
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>())
    all.push_back(describe(entry));
  return all;
}

static Json describeFields(DictionaryAttr fields) {
  Json object = Json::object();
  for (NamedAttribute field : fields)
    if (Json value = describe(field.getValue()); !value.is_null())
      object[field.getName().str()] = std::move(value);
  return object;
}

// The entries of mark-kernels as they are, in their order, which is how running code refers to them.
static Json describeKernels(const CodeSection &code) {
  Json kernels = Json::array();
  if (!code.kernels)
    return kernels;
  for (auto entry : code.kernels.getAsRange<DictionaryAttr>()) {
    Json kernel = describeFields(entry);
    auto name = entry.getAs<StringAttr>(kernelKeys::name);
    kernel[kernelKeys::spills] = name ? code.spills.lookup(name.getValue()) : 0;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// Numbers that the model was trained for; what recipes add (padding, tables) does not count.
static int64_t countParameters(ModuleOp module) {
  int64_t count = 0;
  for (auto weight : module.getOps<WeightOp>())
    if (isa<FileSourceAttr, QuantizedSourceAttr, LookupSourceAttr, RandomSourceAttr, ValuesSourceAttr>(
            weight.getSource()))
      count += cast<RankedTensorType>(weight.getType()).getNumElements();
  return count;
}

// Kind and results as stage lower found them, the entries that follow, and the names of the classes.
static void describeUse(ModuleOp module, Json &manifest) {
  auto interface = module->getAttrOfType<DictionaryAttr>(interfaceAttr);
  auto kind = interface ? interface.getAs<StringAttr>("kind") : StringAttr();
  auto outputs = interface ? interface.getAs<ArrayAttr>("outputs") : ArrayAttr();
  if (!kind || !outputs)
    return;
  manifest["kind"] = kind.str();
  manifest["phases"] = Json::array();
  bool decodes = kind.getValue() != "encoder", encodes = kind.getValue() != "decoder";
  for (const artifact::EntryInfo &entry : artifact::entryTable)
    if ((entry.ofDecoder && decodes) || (entry.ofEncoder && encodes))
      manifest["phases"].push_back(entry.name);
  manifest["results"] = Json::array();
  for (auto output : outputs.getAsRange<DictionaryAttr>())
    manifest["results"].push_back(describeFields(output));
  if (auto labels = module->getAttrOfType<ArrayAttr>(labelsAttr))
    manifest["labels"] = describeWords(labels);
}

std::string makeManifest(ModuleOp module, llvm::ArrayRef<PlacedWeight> weights, llvm::ArrayRef<CodeSection> codes) {
  Json manifest;
  manifest["talc"] = TALC_VERSION;
  manifest["format"] = artifact::formatVersion;
  manifest["name"] = modelName(module);
  if (auto origin = module->getAttrOfType<DictionaryAttr>(originAttr))
    manifest["origin"] = describeFields(origin);
  manifest["target"] = describeFields(codes.front().target.manifestEntries(*module.getContext()));
  describeUse(module, manifest);
  if (auto plan = module->getAttrOfType<DictionaryAttr>(planAttr))
    for (NamedAttribute figure : plan)
      if (auto value = dyn_cast<IntegerAttr>(figure.getValue()))
        manifest["plan"][figure.getName().str()] = value.getValue().getSExtValue();
  if (auto settings = module->getAttrOfType<DictionaryAttr>(generationAttr))
    manifest["generation"] = describeSettings(settings);
  if (auto measured = module->getAttrOfType<DictionaryAttr>(measuredAttr))
    manifest["measured"] = describeFields(measured);
  manifest["parameters"] = countParameters(module);
  manifest["kernels"] = describeKernels(codes.front());
  for (const CodeSection &code : codes)  // of another family of machines, which divides work in another way
    if (code.kernels != codes.front().kernels)
      manifest["kernels_of"][code.target.name()] = describeKernels(code);
  for (const CodeSection &code : codes)
    for (const targets::LinkedCode::Entry &entry : code.linked.entries)
      if (!entry.steps.empty())
        manifest["steps"][code.target.name()][entry.name] = entry.steps;
  manifest["weights"] = Json::array();
  for (const PlacedWeight &placed : weights)
    manifest["weights"].push_back(describeWeight(placed));
  // A name that is not UTF-8 is shown with replacement characters.
  return manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace talc
