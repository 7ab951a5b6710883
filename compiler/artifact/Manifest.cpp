// SPDX-License-Identifier: Apache-2.0
// Lists a model's results, plan, kernels and weights as JSON.
#include "compiler/artifact/Sections.h"
#include "compiler/artifact/Summary.h"

#include "dialects/talc/LookupSource.h"
#include "dialects/talc/ModelName.h"
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/formats/KvFormats.h"
#include "runtime/artifact/Entries.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <ctime>

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

static Json describeWords(ArrayAttr words) {
  Json list = Json::array();
  for (auto word : words.getAsRange<StringAttr>())
    list.push_back(word.str());
  return list;
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
  if (auto stops = settings.getAs<ArrayAttr>(artifact::stopsEntry))
    object[artifact::stopsEntry] = describeWords(stops);
  return object;
}

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

// Texts, numbers and lists of texts of a dictionary.
static Json describeFields(DictionaryAttr fields) {
  Json object = Json::object();
  for (NamedAttribute field : fields)
    if (Json value = describe(field.getValue()); !value.is_null())
      object[field.getName().str()] = std::move(value);
  return object;
}

// Leaves out the folders of the machine that talc compile ran on.
static void describeOrigin(DictionaryAttr fields, Json &manifest) {
  auto name = [](llvm::StringRef path) { return llvm::sys::path::filename(path.rtrim('/')).str(); };
  Json origin = describeFields(fields);
  if (auto family = origin.find(originKeys::family); family != origin.end()) {
    manifest[originKeys::family] = *family;
    origin.erase(family);
  }
  if (auto model = origin.find(originKeys::model); model != origin.end() && model->is_string())
    *model = name(model->get<std::string>());
  if (auto options = origin.find(originKeys::options); options != origin.end())
    for (Json &option : *options)
      if (std::string word = option.is_string() ? option.get<std::string>() : "";
          llvm::StringRef(word).starts_with(originKeys::fileOption))
        option = originKeys::fileOption + name(llvm::StringRef(word).substr(strlen(originKeys::fileOption)));
  manifest["origin"] = std::move(origin);
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
static void describeUse(ModuleOp module, const artifact::ModelInfo &facts, Json &manifest) {
  auto interface = module->getAttrOfType<DictionaryAttr>(interfaceAttr);
  auto kind = interface ? interface.getAs<StringAttr>("kind") : StringAttr();
  auto outputs = interface ? interface.getAs<ArrayAttr>("outputs") : ArrayAttr();
  if (!kind || !outputs)
    return;
  manifest["kind"] = kind.str();
  manifest["phases"] = Json::array();
  for (const artifact::EntryInfo &entry : artifact::entryTable)
    if (artifact::needsEntry(static_cast<artifact::ModelKind>(facts.kind), entry))
      manifest["phases"].push_back(entry.name);
  manifest["results"] = Json::array();
  for (auto output : outputs.getAsRange<DictionaryAttr>())
    manifest["results"].push_back(describeFields(output));
  if (auto labels = module->getAttrOfType<ArrayAttr>(labelsAttr))
    manifest["labels"] = describeWords(labels);
}

// The day, in UTC. SOURCE_DATE_EPOCH, in seconds, takes the place of the clock (reproducible-builds.org).
static std::string compilationDate() {
  std::time_t seconds = std::time(nullptr);
  int64_t epoch = 0;
  if (auto variable = llvm::sys::Process::GetEnv("SOURCE_DATE_EPOCH");
      variable && !llvm::StringRef(*variable).getAsInteger(10, epoch))
    seconds = epoch;
  std::tm day = {};
  char text[32] = "";
  if (gmtime_r(&seconds, &day))
    std::strftime(text, sizeof(text), "%Y-%m-%d", &day);
  return text;
}

static void describeSizes(const artifact::ModelInfo &facts, Json &manifest) {
  manifest["vocabulary"] = facts.vocabularySize;
  if (facts.sourceVocabularySize)
    manifest["source_vocabulary"] = facts.sourceVocabularySize;
  manifest["max_sequence"] = facts.maxSequence;
  manifest["longest_sequence"] = facts.longestSequence;
}

// Counts the weights of each storage format and their bytes, and names the formats of KV caches.
static void describeFormats(ModuleOp module, llvm::ArrayRef<PlacedWeight> weights, Json &manifest) {
  Json formats = Json::object();
  for (const PlacedWeight &placed : weights) {
    WeightOp weight = placed.weight;
    std::string name(elementFormat(cast<RankedTensorType>(weight.getType())).name);
    auto [entry, isNew] = formats.emplace(name, Json{{"weights", 0}, {"bytes", 0}});
    (*entry)["weights"] = (*entry)["weights"].get<int64_t>() + 1;
    (*entry)["bytes"] = (*entry)["bytes"].get<int64_t>() + placed.bytes;
  }
  manifest["formats"] = std::move(formats);
  std::string error;
  auto kv = manifest["kind"] == "encoder" ? std::nullopt : getKvFormats(module, error);
  if (kv)
    manifest["kv_formats"] = {{keysKey, kv->keys->name}, {valuesKey, kv->values->name}};
}

std::string makeManifest(ModuleOp module, const artifact::ModelInfo &facts, llvm::ArrayRef<PlacedWeight> weights,
                         llvm::ArrayRef<CodeSection> codes) {
  Json manifest;
  manifest["summary"] = "";
  manifest["talc"] = TALC_VERSION;
  manifest["format"] = artifact::formatVersion;
  manifest["compiled"] = compilationDate();
  manifest["name"] = modelName(module);
  if (auto origin = module->getAttrOfType<DictionaryAttr>(originAttr))
    describeOrigin(origin, manifest);
  manifest["target"] = describeFields(codes.front().target.manifestEntries(*module.getContext()));
  for (const CodeSection &code : codes)
    manifest["targets"].push_back(code.target.name());
  describeUse(module, facts, manifest);
  describeSizes(facts, manifest);
  describeFormats(module, weights, manifest);
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
  manifest["summary"] = summarize(manifest);
  // A name that is not UTF-8 is shown with replacement characters.
  return manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace talc
