// SPDX-License-Identifier: Apache-2.0
// Finds tensors, and says in which order their values lie.
#include "frontends/gguf/GgufWeights.h"

#include "frontends/gguf/RopeFactors.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace talc {

const StorageFormat *GgufWeights::getStorageFormat(const GgufModel::Tensor &tensor) const {
  const StorageFormat *format = ggufFormat(*tensor.entry.type);
  if (!format)
    diagnostics.error(ImportError::TensorType,
                      fmt::format("{}: tensor {} has type {}, expected {}", tensor.file, quotedText(tensor.entry.name),
                                  tensor.entry.type->name, ggufFormats()));
  return format;
}

// A matrix of one row may be stored as a vector, one of heads as a matrix for each.
bool GgufWeights::checkShape(const GgufModel::Tensor &tensor, std::vector<int64_t> shape, const GgufTensorName &place,
                             const std::string &why) const {
  if (place.order == StoredOrder::Kind::Transposed)
    std::swap(shape.front(), shape.back());
  std::vector<int64_t> tensorShape = tensor.entry.shape;
  if (place.expert >= 0 && tensorShape.size() == shape.size() + 1 && place.expert < tensorShape.front())
    tensorShape.erase(tensorShape.begin());
  if (tensorShape.size() == 1 && shape.size() == 2 && shape.front() == 1)
    shape.erase(shape.begin());
  bool isByHead = place.expert < 0 && tensorShape.size() == 3 && shape.size() == 2 && tensorShape[0] > 0 &&
                  shape[0] % tensorShape[0] == 0 && shape[0] / tensorShape[0] == tensorShape[1];
  if (isByHead)
    tensorShape = {shape[0], tensorShape[2]};
  if (tensorShape == shape)
    return true;
  diagnostics.error(ImportError::TensorShape, fmt::format("{}: tensor {} has shape {}, expected {}{}{}", tensor.file,
                                                          quotedText(tensor.entry.name), shapeText(tensor.entry.shape),
                                                          place.expert >= 0 ? "experts of " : "", shapeText(shape),
                                                          why.empty() ? "" : " (" + why + ")"));
  return false;
}

// A matrix in NVFP4 may have a factor of its own, by which all products would have to be multiplied.
bool GgufWeights::hasFactor(const GgufModel::Tensor &tensor) const {
  llvm::StringRef stem = tensor.entry.name;
  const std::string name = stem.consume_back(".weight") ? stem.str() + ".scale" : "";
  if (name.empty() || !model.tensor(name))
    return false;
  diagnostics.error(ImportError::TensorType,
                    fmt::format("{}: tensor {} is to be multiplied by tensor {}, which talc does not do", tensor.file,
                                quotedText(tensor.entry.name), quotedText(name)));
  return true;
}

std::optional<WeightOrigin> GgufWeights::find(const std::string &name, const std::vector<int64_t> &shape,
                                              const std::string &why) {
  GgufTensorName place = locate(name);
  const std::string &stored = place.name;
  const GgufModel::Tensor *tensor = model.tensor(stored);
  if (!tensor) {
    diagnostics.error(ImportError::TensorMissing,
                      fmt::format("{}: tensor {} is in none of the model's files", model.file(),
                                  quotedText(stored.empty() ? name : stored)));
    return std::nullopt;
  }
  used.insert(stored);
  const StorageFormat *format = getStorageFormat(*tensor);
  if (shape.size() < 2 && place.order == StoredOrder::Kind::Transposed)
    place.order = StoredOrder::Kind::AsIs;  // a vector is its own transpose
  if (llvm::StringRef(name).ends_with(".bias") && place.order == StoredOrder::Kind::PlusOne)
    place.order = StoredOrder::Kind::AsIs;
  if (!format || !checkShape(*tensor, shape, place, why) || hasFactor(*tensor))
    return std::nullopt;
  auto offset = static_cast<int64_t>(tensor->entry.offset);
  if (place.expert >= 0)
    offset += place.expert * static_cast<int64_t>(tensor->entry.bytes) / tensor->entry.shape.front();
  return StoredWeight{tensor->file, offset, *format, {place.order, headWidth}};
}

bool GgufWeights::tied(const std::string &first, const std::string &second, bool isTied) {
  const GgufModel::Tensor *a = model.tensor(locate(first).name), *b = model.tensor(locate(second).name);
  if (!a || !b)
    return isTied;
  if (!sameBytes(*a, *b))
    return false;
  used.insert(b->entry.name);
  return true;
}

bool GgufWeights::sameBytes(const GgufModel::Tensor &first, const GgufModel::Tensor &second) const {
  const GgufTensor &a = first.entry, &b = second.entry;
  if (a.type != b.type || a.shape != b.shape)
    return false;
  OpenFile fileA = model.directory().openFile(first.file, diagnostics),
           fileB = model.directory().openFile(second.file, diagnostics);
  return fileA.equals(a.offset, fileB, b.offset, a.bytes);
}

// Factors that the configuration holds as well, and the heads of models that return something else.
static bool isLeftover(llvm::StringRef name) {
  return name == ropeFactorsTensor || llvm::is_contained(longFactorsTensors, name) || name.starts_with("output.") ||
         name.starts_with("cls.") || name == "cls";
}

// Whether a tensor belongs to one of the last layers, which predict further tokens.
bool GgufWeights::predictsFurther(llvm::StringRef name) const {
  const auto *all = model.find(fmt::format("{}.block_count", architecture.name)),
             *further = model.find(fmt::format("{}.nextn_predict_layers", architecture.name));
  int64_t layer = -1;
  bool isInLayer = name.consume_front("blk.") && !name.consumeInteger(10, layer);
  return isInLayer && all && further && all->is_number_integer() && further->is_number_integer() &&
         layer >= all->get<int64_t>() - further->get<int64_t>();
}

void GgufWeights::reportUnused(bool isAllowed) const {
  std::vector<std::string> unused;
  for (auto &[name, tensor] : model.tensors())
    if (!used.count(name) && !isLeftover(name) && !predictsFurther(name))
      unused.push_back(name);
  diagnostics.reportUnused(model.file(), unused, isAllowed);
}

}  // namespace talc
