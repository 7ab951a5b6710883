// SPDX-License-Identifier: Apache-2.0
// Finds the weights of a model definition in safetensors files.
#include "frontends/huggingface/Checkpoint.h"

#include "frontends/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace talc {

std::optional<Checkpoint> Checkpoint::open(const ModelDirectory &directory, std::string basePrefix,
                                           Diagnostics &diagnostics, const Quantization *quantization) {
  Checkpoint checkpoint(directory, std::move(basePrefix), quantization, diagnostics);
  bool complete = false;
  if (directory.contains(ModelDirectory::safetensorsFile))
    complete = checkpoint.addFile(ModelDirectory::safetensorsFile);
  else if (directory.contains(ModelDirectory::safetensorsIndex))
    complete = checkpoint.addShards();
  else
    diagnostics.error(ImportError::ModelDirectory,
                      fmt::format("{}: has neither {} nor {}; to compile without weights, ask for random ones "
                                  "(--random-weights)",
                                  directory.path(), ModelDirectory::safetensorsFile, ModelDirectory::safetensorsIndex));
  if (!complete)
    return std::nullopt;
  checkpoint.renameBase();
  return checkpoint;
}

// Classes of transformers that answer questions call the model under their head "transformer", whatever the family.
void Checkpoint::renameBase() {
  const std::string other = "transformer.";
  auto begin = [&](const std::string &prefix) {
    auto it = tensors.lower_bound(prefix);
    return it != tensors.end() && llvm::StringRef(it->first).starts_with(prefix) ? it : tensors.end();
  };
  if (basePrefix.empty() || basePrefix == other || begin(basePrefix) != tensors.end())
    return;
  for (auto it = begin(other); it != tensors.end() && llvm::StringRef(it->first).starts_with(other);) {
    auto node = tensors.extract(it++);
    node.key() = basePrefix + node.key().substr(other.size());
    node.mapped().entry.name = node.key();
    tensors.insert(std::move(node));
  }
}

bool Checkpoint::addFile(const std::string &file) {
  OpenFile opened = directory.openFile(file, diagnostics);
  auto entries = opened ? readSafetensors(opened, file, diagnostics) : std::nullopt;
  if (!entries)
    return false;
  for (SafetensorsEntry &entry : *entries) {
    std::string name = entry.name;
    tensors.emplace(std::move(name), Tensor{file, std::move(entry)});
  }
  return true;
}

//===--- shards -------------------------------------------------------------------------------------------------===//

static bool isShardName(const std::string &file) {
  return ModelDirectory::isPlainName(file) && llvm::StringRef(file).ends_with(".safetensors");
}

bool Checkpoint::addShards() {
  constexpr uint64_t indexLimit = 100'000'000;
  auto refuse = [&](const std::string &reason) {
    diagnostics.error(ImportError::TensorIndex, fmt::format("{}: {}", ModelDirectory::safetensorsIndex, reason));
    return false;
  };
  auto text = directory.readText(ModelDirectory::safetensorsIndex, indexLimit, diagnostics);
  auto index = text ? parseJsonObject(*text, ModelDirectory::safetensorsIndex, ImportError::TensorIndex, diagnostics)
                    : std::nullopt;
  if (!index)
    return false;
  auto map = index->find("weight_map");
  if (map == index->end() || !map->is_object())
    return refuse("lacks the object 'weight_map' from tensors to files");
  std::map<std::string, std::set<std::string>> shards;
  for (auto &[tensor, file] : map->items()) {
    if (!file.is_string() || !isShardName(file.get_ref<const std::string &>()))
      return refuse(fmt::format("tensor {} lies in {}, expected the plain name of a .safetensors file in the directory",
                                quotedText(tensor), jsonText(file)));
    shards[file.get_ref<const std::string &>()].insert(tensor);
  }
  for (auto &[file, names] : shards)
    if (!addShard(file, names))
      return false;
  return true;
}

// Adds the tensors that the index places in this file; it may hold others.
bool Checkpoint::addShard(const std::string &file, const std::set<std::string> &names) {
  OpenFile opened = directory.openFile(file, diagnostics);
  auto entries = opened ? readSafetensors(opened, file, diagnostics) : std::nullopt;
  if (!entries)
    return false;
  size_t count = 0;
  for (SafetensorsEntry &entry : *entries) {
    std::string name = entry.name;
    count += names.count(name) && tensors.emplace(name, Tensor{file, std::move(entry)}).second;
  }
  if (count == names.size())
    return true;
  for (const std::string &name : names)
    if (!tensors.count(name))
      diagnostics.error(ImportError::TensorIndex,
                        fmt::format("{}: tensor {} should lie in {}, but does not", ModelDirectory::safetensorsIndex,
                                    quotedText(name), file));
  return false;
}

// language_model.model.layers.0... or model.language_model.layers.0...
// The name in a model of texts alone; empty: of another part.
static std::string nameInTexts(llvm::StringRef stored) {
  constexpr llvm::StringRef places[] = {"model.language_model.", "language_model.", "model.text_model.", "text_model."};
  constexpr llvm::StringRef parts[] = {"model.layers.", "model.embed_tokens.", "model.norm.", "model.final_layernorm."};
  for (llvm::StringRef place : places)
    if (llvm::StringRef rest = stored; rest.consume_front(place)) {
      bool isWhole = rest.starts_with("model.") || rest.starts_with("lm_head.");
      return (isWhole ? "" : "model.") + rest.str();
    }
  bool isText = stored.starts_with("lm_head.") ||
                llvm::any_of(parts, [&](llvm::StringRef part) { return stored.starts_with(part); });
  return isText ? stored.str() : std::string();
}

void Checkpoint::keepTextModel() {
  std::map<std::string, Tensor> texts;
  for (auto &[stored, tensor] : tensors) {
    std::string name = nameInTexts(stored);
    if (name.empty())
      continue;
    tensor.entry.name = name;
    texts.emplace(name, std::move(tensor));
  }
  tensors = std::move(texts);
}

//===--- lookup -------------------------------------------------------------------------------------------------===//

// The names of scales and biases of layer norms before 2019.
static std::string oldNormName(const std::string &name) {
  for (auto [now, before] :
       {std::pair(".LayerNorm.weight", ".LayerNorm.gamma"), {".LayerNorm.bias", ".LayerNorm.beta"}})
    if (llvm::StringRef(name).ends_with(now))
      return llvm::StringRef(name).drop_back(strlen(now)).str() + before;
  return name;
}

const Checkpoint::Tensor *Checkpoint::lookup(const std::string &name) const {
  auto at = [&](const std::string &key) {
    auto it = tensors.find(key);
    if (it == tensors.end())
      it = tensors.find(oldNormName(key));
    return it == tensors.end() ? nullptr : &it->second;
  };
  if (auto *tensor = at(name))
    return tensor;
  if (name.compare(0, basePrefix.size(), basePrefix) == 0)
    return at(name.substr(basePrefix.size()));
  return at(basePrefix + name);
}

std::optional<WeightOrigin> Checkpoint::find(const std::string &name, const std::vector<int64_t> &shape,
                                             const std::string &why) {
  if (isQuantized(name))
    return findQuantized(name, shape);
  const Tensor *tensor = lookup(name);
  if (!tensor) {
    reportMissing(name);
    return std::nullopt;
  }
  const SafetensorsEntry &entry = tensor->entry;
  used.insert(entry.name);
  if (entry.shape != shape) {
    diagnostics.error(ImportError::TensorShape,
                      fmt::format("{}: tensor {} has shape {}, expected {}{}", tensor->file, quotedText(entry.name),
                                  shapeText(entry.shape), shapeText(shape), why.empty() ? "" : " (" + why + ")"));
    return std::nullopt;
  }
  const StorageFormat *format = safetensorsFormat(entry.type);
  if (!format) {
    diagnostics.error(ImportError::TensorType, fmt::format("{}: tensor {} has dtype {}, expected {}", tensor->file,
                                                           quotedText(entry.name), entry.type, safetensorsFormats()));
    return std::nullopt;
  }
  return StoredWeight{tensor->file, static_cast<int64_t>(entry.offset), *format};
}

bool Checkpoint::isQuantized(const std::string &name) const {
  QuantizedParts::Lookup find = [&](const std::string &part) { return lookup(part); };
  return quantization && quantization->covers({name, {}, find, directory, diagnostics});
}

std::optional<WeightOrigin> Checkpoint::findQuantized(const std::string &name, const std::vector<int64_t> &shape) {
  QuantizedParts::Lookup find = [&](const std::string &part) { return lookup(part); };
  QuantizedParts parts(name, shape, find, directory, diagnostics);
  auto weight = quantization->find(parts);
  for (const Tensor *tensor : parts.used())
    used.insert(tensor->entry.name);
  foundQuantized = true;
  return weight;
}

// Names the tensors whose names resemble the missing one most.
void Checkpoint::reportMissing(const std::string &name) const {
  constexpr size_t maxCompared = 20'000, maxShown = 3;
  const unsigned maxDistance = static_cast<unsigned>(name.size() / 3);
  std::vector<std::pair<unsigned, std::string>> close;
  size_t compared = 0;
  for (auto &[other, tensor] : tensors) {
    if (++compared > maxCompared)
      break;
    if (other.size() > 2 * name.size())
      continue;
    unsigned distance = llvm::StringRef(name).edit_distance(other, /*AllowReplacements=*/true, maxDistance);
    if (distance <= maxDistance)
      close.emplace_back(distance, other);
  }
  std::sort(close.begin(), close.end());
  std::string hint;
  for (size_t i = 0; i < std::min(close.size(), maxShown); ++i)
    hint += (i == 0 ? "; closest: " : ", ") + quotedText(close[i].second);
  diagnostics.error(ImportError::TensorMissing, fmt::format("{}: tensor {} is in none of the model's files{}",
                                                            directory.path(), quotedText(name), hint));
}

//===--- tied tensors -------------------------------------------------------------------------------------------===//

bool Checkpoint::tied(const std::string &first, const std::string &second, bool isTied) {
  const Tensor *a = lookup(first), *b = lookup(second);
  if (isQuantized(first) || isQuantized(second))
    return isTied && !(has(first) && has(second));
  if (!a || !b)
    return isTied;
  if (!sameBytes(*a, *b)) {
    if (isTied)
      diagnostics.warning(fmt::format("{}: tensor {} differs from {}, which the configuration ties to it "
                                      "(tie_word_embeddings); each is used as it is, as in transformers",
                                      directory.path(), quotedText(b->entry.name), quotedText(a->entry.name)));
    return false;
  }
  used.insert(b->entry.name);
  return true;
}

bool Checkpoint::sameBytes(const Tensor &first, const Tensor &second) const {
  const SafetensorsEntry &a = first.entry, &b = second.entry;
  if (a.type != b.type || a.shape != b.shape)
    return false;
  OpenFile fileA = directory.openFile(first.file, diagnostics), fileB = directory.openFile(second.file, diagnostics);
  return fileA.equals(a.offset, fileB, b.offset, a.bytes);
}

void Checkpoint::passOver(const std::string &name) {
  if (const Tensor *tensor = lookup(name))
    used.insert(tensor->entry.name);
}

//===--- unused tensors -----------------------------------------------------------------------------------------===//

void Checkpoint::reportUnused(bool isAllowed) const {
  if (quantization && !foundQuantized)
    diagnostics.error(
        ImportError::ConfigValue,
        fmt::format("{}: the configuration says that weights are quantized, but none is", directory.path()));
  auto isIgnored = [&](llvm::StringRef name) {
    return quantization && llvm::any_of(quantization->ignored(), [&](auto end) { return name.ends_with(end); });
  };
  std::vector<std::string> unused;
  for (auto &[name, tensor] : tensors)
    if (!used.count(name) && !isLeftover(name, tensor.entry.shape.size()) && !isIgnored(name))
      unused.push_back(name);
  diagnostics.reportUnused(directory.path(), unused, isAllowed);
}

}  // namespace talc
