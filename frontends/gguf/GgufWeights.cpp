// SPDX-License-Identifier: Apache-2.0
// Translates names of tensors, and says in which order their values lie.
#include "frontends/gguf/GgufWeights.h"

#include "frontends/gguf/RopeFactors.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

namespace talc {

// "model.layers.3.mlp.up_proj.weight" as "model.layers.#.mlp.up_proj", "3" and ".weight".
GgufWeights::Place GgufWeights::locate(const std::string &name) const {
  llvm::StringRef rest = name;
  std::string end = rest.consume_back(".weight") ? ".weight" : rest.consume_back(".bias") ? ".bias" : "";
  llvm::SmallVector<llvm::StringRef, 12> parts;
  rest.split(parts, '.');
  std::string layer;
  for (llvm::StringRef &part : parts)
    if (layer.empty() && !part.empty() && llvm::all_of(part, llvm::isDigit)) {
      layer = part.str();
      part = "#";
    }
  std::string general = llvm::join(parts, ".");
  for (const GgufName &known : architecture.names) {
    if (known.family != general)
      continue;
    std::string found(known.file);
    if (size_t at = found.find('#'); at != std::string::npos)
      found.replace(at, 1, layer);
    return {found + end, known.order};
  }
  return {};
}

const StorageFormat *GgufWeights::formatOf(const GgufModel::Tensor &tensor) const {
  const StorageFormat *format = ggufFormat(*tensor.entry.type);
  if (!format)
    diagnostics.error(ImportError::TensorType,
                      fmt::format("{}: tensor {} has type {}, expected {}", tensor.file, quotedText(tensor.entry.name),
                                  tensor.entry.type->name, ggufFormats()));
  return format;
}

bool GgufWeights::checkShape(const GgufModel::Tensor &tensor, std::vector<int64_t> shape, StoredOrder::Kind order,
                             const std::string &why) const {
  if (order == StoredOrder::Kind::Transposed)
    std::swap(shape.front(), shape.back());
  if (tensor.entry.shape == shape)
    return true;
  diagnostics.error(ImportError::TensorShape,
                    fmt::format("{}: tensor {} has shape {}, expected {}{}", tensor.file, quotedText(tensor.entry.name),
                                shapeText(tensor.entry.shape), shapeText(shape), why.empty() ? "" : " (" + why + ")"));
  return false;
}

std::optional<WeightOrigin> GgufWeights::find(const std::string &name, const std::vector<int64_t> &shape,
                                              const std::string &why) {
  auto [stored, kind] = locate(name);
  const GgufModel::Tensor *tensor = model.tensor(stored);
  if (!tensor) {
    diagnostics.error(ImportError::TensorMissing,
                      fmt::format("{}: tensor {} is in none of the model's files", model.file(),
                                  quotedText(stored.empty() ? name : stored)));
    return std::nullopt;
  }
  used.insert(stored);
  const StorageFormat *format = formatOf(*tensor);
  // A vector has no other order but that of its pairs.
  StoredOrder order{shape.size() < 2 && kind == StoredOrder::Kind::Transposed ? StoredOrder::Kind::AsIs : kind,
                    headWidth};
  if (!format || !checkShape(*tensor, shape, order.kind, why))
    return std::nullopt;
  return StoredWeight{tensor->file, static_cast<int64_t>(tensor->entry.offset), *format, order};
}

bool GgufWeights::tied(const std::string &first, const std::string &second, bool wanted) {
  const GgufModel::Tensor *a = model.tensor(locate(first).name), *b = model.tensor(locate(second).name);
  if (!a || !b)
    return wanted;
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

void GgufWeights::reportUnused() const {
  std::vector<std::string> unused;
  for (auto &[name, tensor] : model.tensors())
    if (!used.count(name) && name != ropeFactorsTensor)
      unused.push_back(name);
  diagnostics.warnOfUnused(model.file(), unused);
}

}  // namespace talc
