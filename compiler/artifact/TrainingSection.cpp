// SPDX-License-Identifier: Apache-2.0
// The sections of a model that is trained: how weights and checkpoints follow from parameters, and files to copy.
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/Rearrangement.h"
#include "dialects/talc/ModuleKeys.h"
#include "runtime/training/TrainingFormat.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace talc {

using namespace artifact;

namespace {

IntegerAttr gradientOffset(WeightOp weight) {
  return weight->getAttrOfType<IntegerAttr>(gradientOffsetAttr);
}

// A weight of the model's files.
bool isOfFile(WeightOp weight) {
  return (!weight.getOf() || weight.getOf()->empty()) && !isa<FillSourceAttr>(weight.getSource()) &&
         !isa<RotaryTableRecipeAttr, SinusoidTableRecipeAttr, AlibiRecipeAttr>(weight.getSource());
}

class TrainingSection {
public:
  TrainingSection(ModuleOp module, int64_t areaBytes, int64_t labels)
      : module(module), toParameters(module, [](WeightOp weight) { return bool(gradientOffset(weight)); }),
        toTensors(module, [](WeightOp weight) { return !weight.getOf() || weight.getOf()->empty(); }) {
    header.areaFloats = static_cast<uint64_t>(areaBytes) / sizeof(float);
    header.labelCount = static_cast<uint32_t>(labels);
  }

  llvm::Expected<std::vector<uint8_t>> write(llvm::ArrayRef<PlacedWeight> placed) {
    for (WeightOp weight : module.getOps<WeightOp>())
      if (gradientOffset(weight))
        if (llvm::Error error = addParameter(weight))
          return std::move(error);
    for (const PlacedWeight &weight : placed)
      if (llvm::Error error = addWeight(weight.weight, weight.offset))
        return std::move(error);
    header.parameterCount = static_cast<uint32_t>(parameters.size());
    header.weightCount = static_cast<uint32_t>(weights.size());
    header.tensorCount = static_cast<uint32_t>(tensors.size());
    header.tileCount = static_cast<uint32_t>(tiles.size());
    header.nameBytes = static_cast<uint32_t>(names.size());
    std::vector<uint8_t> bytes;
    auto append = [&](const void *data, size_t size) {
      bytes.insert(bytes.end(), static_cast<const uint8_t *>(data), static_cast<const uint8_t *>(data) + size);
    };
    append(&header, sizeof(header));
    append(parameters.data(), parameters.size() * sizeof(TrainingMatrix));
    append(weights.data(), weights.size() * sizeof(TrainingMatrix));
    append(tensors.data(), tensors.size() * sizeof(TrainingTensor));
    append(tiles.data(), tiles.size() * sizeof(TrainingTile));
    append(names.data(), names.size());
    return bytes;
  }

private:
  TrainingMatrix makeMatrix(WeightOp weight, int64_t byteOffset, int64_t lanes) const {
    RankedTensorType type = tensorType(weight);
    MatrixShape shape = matrixShape(type);
    return {static_cast<uint64_t>(byteOffset) / sizeof(float),
            static_cast<uint64_t>(shape.rows),
            static_cast<uint64_t>(shape.columns),
            static_cast<uint32_t>(lanes),
            static_cast<uint32_t>(type.getRank()),
            static_cast<uint32_t>(tiles.size()),
            0};
  }

  static TrainingTile makeTile(const RearrangedTile &tile, int64_t base, uint32_t tensor) {
    auto size = [](int64_t value) { return static_cast<uint64_t>(value); };
    return {size(tile.row),
            size(tile.column),
            size(tile.rows),
            size(tile.columns),
            size(base + tile.begin),
            size(tile.rowStride),
            size(tile.columnStride),
            static_cast<float>(tile.added),
            tensor};
  }

  llvm::Error addParameter(WeightOp weight) {
    auto rearranged = toTensors.find(weight);
    if (!rearranged)
      return rearranged.takeError();
    TrainingMatrix matrix = makeMatrix(weight, gradientOffset(weight).getInt(), 1);
    for (const RearrangedTile &tile : *rearranged) {
      auto tensor = findTensor(tile.source);
      if (!tensor)
        return tensor.takeError();
      tiles.push_back(makeTile(tile, 0, *tensor));
    }
    matrix.tileCount = static_cast<uint32_t>(tiles.size()) - matrix.firstTile;
    parameters.push_back(matrix);
    return llvm::Error::success();
  }

  llvm::Expected<uint32_t> findTensor(WeightOp source) {
    auto [place, isNew] = tensorIndices.try_emplace(source.getSymName(), tensors.size());
    if (!isNew)
      return place->second;
    RankedTensorType type = tensorType(source);
    TrainingTensor tensor = {static_cast<uint32_t>(names.size()),
                             static_cast<uint32_t>(source.getSymName().size()),
                             static_cast<uint32_t>(type.getRank()),
                             0,
                             {1, 1, 1, 1}};
    if (type.getRank() > maxTensorRank)
      return weightError(source, "has too many dimensions to be trained");
    llvm::copy(type.getShape(), tensor.shape);
    names += source.getSymName();
    tensors.push_back(tensor);
    return place->second;
  }

  llvm::Error addWeight(WeightOp weight, int64_t offset) {
    WeightOp matrix = weight;
    int64_t lanes = 1;
    if (isa<PackRecipeAttr>(weight.getSource()) && !gradientOffset(weight)) {
      matrix = toParameters.operand(weight);
      lanes = tensorType(weight).getShape().back();
    }
    auto rearranged = toParameters.find(matrix);
    if (!rearranged)
      return rearranged.takeError();
    if (llvm::Error error = checkSources(matrix))
      return error;
    if (rearranged->empty())
      return llvm::Error::success();
    if (!tensorType(weight).getElementType().isF32())
      return weightError(weight, "is trained, but not stored as f32");
    TrainingMatrix stored = makeMatrix(matrix, offset, lanes);
    for (const RearrangedTile &tile : *rearranged)
      tiles.push_back(makeTile(tile, gradientOffset(tile.source).getInt() / int64_t(sizeof(float)), 0));
    stored.tileCount = static_cast<uint32_t>(tiles.size()) - stored.firstTile;
    weights.push_back(stored);
    return llvm::Error::success();
  }

  // All that comes from the files of the model is trained.
  llvm::Error checkSources(WeightOp weight) const {
    if (gradientOffset(weight))
      return llvm::Error::success();
    if (isOfFile(weight))
      return weightError(weight, "gets no gradient, and talc trains all weights of a model");
    for (unsigned i = 0, count = weight.getOf() ? weight.getOf()->size() : 0; i < count; ++i)
      if (llvm::Error error = checkSources(toParameters.operand(weight, i)))
        return error;
    return llvm::Error::success();
  }

  ModuleOp module;
  Rearrangements toParameters, toTensors;
  TrainingHeader header = {};
  std::vector<TrainingMatrix> parameters, weights;
  std::vector<TrainingTensor> tensors;
  std::vector<TrainingTile> tiles;
  llvm::StringMap<uint32_t> tensorIndices;
  std::string names;
};

}  // namespace

llvm::Expected<std::vector<uint8_t>> makeTrainingSection(ModuleOp module, llvm::ArrayRef<PlacedWeight> placed) {
  auto plan = module->getAttrOfType<DictionaryAttr>(planAttr);
  auto bytes = plan ? plan.getAs<IntegerAttr>(planKeys::gradientBytes) : IntegerAttr();
  auto interface = module->getAttrOfType<DictionaryAttr>(interfaceAttr);
  auto labels = interface ? interface.getAs<IntegerAttr>("labels") : IntegerAttr();
  if (!bytes || !labels)
    return std::vector<uint8_t>();
  return TrainingSection(module, bytes.getInt(), labels.getInt()).write(placed);
}

llvm::Expected<std::vector<uint8_t>> makeFilesSection(ModuleOp module) {
  static constexpr llvm::StringLiteral copied[] = {"config.json",    "generation_config.json",
                                                   "tokenizer.json", "tokenizer_config.json",
                                                   "vocab.json",     "special_tokens_map.json",
                                                   "merges.txt",     "added_tokens.json",
                                                   "vocab.txt",      "tokenizer.model",
                                                   "spiece.model",   "chat_template.jinja",
                                                   "source.spm",     "target.spm"};
  std::vector<uint8_t> bytes;
  auto directory = module->getAttrOfType<StringAttr>(directoryAttr);
  if (!directory)
    return bytes;
  auto append = [&](llvm::StringRef data) { bytes.insert(bytes.end(), data.bytes_begin(), data.bytes_end()); };
  for (llvm::StringRef name : copied) {
    llvm::SmallString<128> path(directory.getValue());
    llvm::sys::path::append(path, name);
    if (!llvm::sys::fs::exists(path))
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      return makeError(ErrorCode::WeightFile, "{}: cannot be read: {}", path.str().str(), buffer.getError().message());
    CheckpointFile file = {static_cast<uint32_t>(name.size()), 0, (*buffer)->getBufferSize()};
    append({reinterpret_cast<const char *>(&file), sizeof(file)});
    append(name);
    append((*buffer)->getBuffer());
  }
  return bytes;
}

}  // namespace talc
