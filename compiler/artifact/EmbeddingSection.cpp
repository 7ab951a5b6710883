// SPDX-License-Identifier: Apache-2.0
// Writes talc.pooling in the format of runtime/embedding/EmbeddingFormat.h.
//
//   talc.pooling = "mean"
//   talc.pooling = {modes = ["cls", "mean"],
//                   layers = [{kind = "dense", inputs = 64, outputs = 32, activation = "tanh", residual = "input",
//                              weight = #talc.file<"2_Dense/model.safetensors", 80, f32>, bias = ..., projection =
//                              ...},
//                             {kind = "norm", ...}, {kind = "normalize", ...}],
//                   prompts = [["query", "query: "]], default_prompt = 0, max_tokens = 512,
//                   excludes_prompt, cuts_begin}
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/WeightGraph.h"
#include "compiler/artifact/weights/WeightSources.h"
#include "dialects/talc/ModelName.h"
#include "runtime/embedding/EmbeddingFormat.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace talc {

using namespace artifact;

// In the order of the enumerations.
static constexpr llvm::StringLiteral poolingTable[] = {
    "none", "cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"};
static constexpr llvm::StringLiteral layerKinds[] = {"dense", "norm", "normalize"};
static constexpr llvm::StringLiteral activations[] = {"none", "tanh", "relu", "gelu", "silu", "sigmoid"};
static constexpr llvm::StringLiteral residuals[] = {"none", "input", "projection"};

template <size_t count>
static std::optional<uint32_t> findIndex(Attribute name, const llvm::StringLiteral (&names)[count]) {
  auto text = dyn_cast_or_null<StringAttr>(name);
  auto it = text ? llvm::find(names, text.getValue()) : std::end(names);
  return it == std::end(names) ? std::nullopt : std::optional<uint32_t>(it - std::begin(names));
}

// One mode has its number; several have one number together.
llvm::Expected<Pooling> readPooling(ModuleOp module) {
  Attribute attribute = module->getAttr(poolingAttr);
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto modes = dictionary ? dictionary.getAs<ArrayAttr>("modes") : ArrayAttr();
  if (!attribute)
    return Pooling::None;
  if (modes && modes.size() > 1)
    return Pooling::Several;
  auto index = findIndex(modes && !modes.empty() ? modes[0] : attribute, poolingTable);
  if (!index)
    return makeError(ErrorCode::ModelInfo, "{}: {} is unknown, expected {}", modelName(module), poolingAttr.str(),
                     llvm::join(llvm::ArrayRef(poolingTable), ", "));
  return static_cast<Pooling>(*index);
}

namespace {

class EmbeddingSection {
public:
  EmbeddingSection(ModuleOp module, DictionaryAttr embedding) : module(module), embedding(embedding) {}
  llvm::Expected<std::vector<uint8_t>> write();

private:
  llvm::Error readHeader();
  llvm::Error addLayer(DictionaryAttr entries);
  llvm::Error addPrompt(Attribute prompt);
  llvm::Error addValues(Attribute source, MatrixShape shape);
  llvm::Error wrong(llvm::StringRef what) const {
    return makeError(ErrorCode::ModelInfo, "{}: {}: {}", modelName(module), poolingAttr.str(), what.str());
  }
  int64_t number(DictionaryAttr entries, llvm::StringRef key) const {
    auto value = entries.getAs<IntegerAttr>(key);
    return value ? value.getInt() : 0;
  }

  ModuleOp module;
  DictionaryAttr embedding;
  EmbeddingHeader header = {};
  std::vector<EmbeddingLayer> layers;
  std::vector<float> values;
  std::string texts;
};

}  // namespace

llvm::Error EmbeddingSection::readHeader() {
  auto modes = embedding.getAs<ArrayAttr>("modes");
  for (Attribute name : modes ? modes.getValue() : llvm::ArrayRef<Attribute>()) {
    auto pooling = findIndex(name, poolingTable);
    if (!pooling || header.poolingCount == maxPoolings)
      return wrong("an unknown mode");
    header.poolings[header.poolingCount++] = *pooling;
  }
  if (header.poolingCount == 0)
    return wrong("no mode");
  header.excludesPrompt = embedding.contains("excludes_prompt");
  header.cutsBegin = embedding.contains("cuts_begin");
  header.maxTokens = static_cast<uint32_t>(number(embedding, "max_tokens"));
  if (embedding.contains("default_prompt"))
    header.defaultPrompt = static_cast<uint32_t>(number(embedding, "default_prompt")) + 1;
  return llvm::Error::success();
}

// Values of a file, random ones, or the same value everywhere.
llvm::Error EmbeddingSection::addValues(Attribute source, MatrixShape shape) {
  WeightValuesPtr read;
  if (auto random = dyn_cast_or_null<RandomSourceAttr>(source))
    read = randomValues(random.getSeed(), random.getMean().convertToDouble(), random.getDeviation().convertToDouble(),
                        shape);
  if (auto fill = dyn_cast_or_null<FillSourceAttr>(source))
    read = fillValues(static_cast<float>(fill.getValue().convertToDouble()), shape);
  if (auto stored = dyn_cast_or_null<FileSourceAttr>(source)) {
    auto file = WeightGraph(module).openFile(stored.getPath());
    if (!file)
      return file.takeError();
    const StorageFormat &format = *getStorageFormat(stored.getElementType());
    auto present = static_cast<int64_t>((*file)->bytes().size());
    if (stored.getOffset() > present || format.byteSize(shape.rows * shape.columns) > present - stored.getOffset())
      return makeError(ErrorCode::WeightFile, "{}: ends before the weights of its layer; was it downloaded completely?",
                       stored.getPath().str());
    read = fileValues(*file, stored.getOffset(), format, shape);
  }
  if (!read)
    return wrong("a layer without its weights");
  size_t begin = values.size();
  values.resize(begin + shape.rows * shape.columns);
  read->read({0, 0, shape.rows, shape.columns}, values.data() + begin, shape.columns);
  return llvm::Error::success();
}

llvm::Error EmbeddingSection::addLayer(DictionaryAttr entries) {
  auto kind = findIndex(entries.get("kind"), layerKinds);
  auto activation = entries.contains("activation") ? findIndex(entries.get("activation"), activations) : 0;
  auto residual = entries.contains("residual") ? findIndex(entries.get("residual"), residuals) : 0;
  int64_t inputs = number(entries, "inputs"), outputs = number(entries, "outputs");
  constexpr int64_t maxWidth = 1 << 20;
  if (!kind || !activation || !residual || inputs < 1 || inputs > maxWidth || outputs < 1 || outputs > maxWidth)
    return wrong("an impossible layer");
  EmbeddingLayer layer = {*kind + 1,   static_cast<uint32_t>(inputs), static_cast<uint32_t>(outputs),
                          *activation, entries.contains("bias"),      *residual};
  bool isDense = layer.kind == static_cast<uint32_t>(EmbeddingLayerKind::Dense);
  for (const char *key : {"weight", "bias", "projection"})
    if (Attribute source = entries.get(key)) {
      bool isMatrix = isDense && llvm::StringRef(key) != "bias";
      if (llvm::Error error = addValues(source, {outputs, isMatrix ? inputs : 1}))
        return error;
    }
  layers.push_back(layer);
  return llvm::Error::success();
}

llvm::Error EmbeddingSection::addPrompt(Attribute prompt) {
  auto parts = dyn_cast<ArrayAttr>(prompt);
  if (!parts || parts.size() != 2)
    return wrong("a prompt is a name and a text");
  for (Attribute part : parts) {
    auto text = dyn_cast<StringAttr>(part);
    if (!text || text.getValue().contains('\0'))
      return wrong("a prompt is a name and a text without NUL");
    texts += text.getValue();
    texts += '\0';
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<uint8_t>> EmbeddingSection::write() {
  if (llvm::Error error = readHeader())
    return std::move(error);
  if (auto list = embedding.getAs<ArrayAttr>("layers"))
    for (auto entries : list.getAsRange<DictionaryAttr>())
      if (llvm::Error error = addLayer(entries))
        return std::move(error);
  if (auto list = embedding.getAs<ArrayAttr>("prompts")) {
    header.promptCount = list.size();
    for (Attribute prompt : list)
      if (llvm::Error error = addPrompt(prompt))
        return std::move(error);
  }
  header.layerCount = layers.size();
  uint64_t expected = 0;
  for (const EmbeddingLayer &layer : layers)
    expected += countValues(layer);
  if (expected != values.size())
    return wrong("a layer without its weights");
  std::vector<uint8_t> bytes;
  auto append = [&](const void *data, size_t size) {
    bytes.insert(bytes.end(), static_cast<const uint8_t *>(data), static_cast<const uint8_t *>(data) + size);
  };
  append(&header, sizeof(header));
  append(layers.data(), layers.size() * sizeof(EmbeddingLayer));
  append(values.data(), values.size() * sizeof(float));
  append(texts.data(), texts.size());
  return bytes;
}

llvm::Expected<std::vector<uint8_t>> makeEmbeddingSection(ModuleOp module) {
  auto embedding = module->getAttrOfType<DictionaryAttr>(poolingAttr);
  return embedding ? EmbeddingSection(module, embedding).write() : std::vector<uint8_t>();
}

}  // namespace talc
