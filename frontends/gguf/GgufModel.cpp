// SPDX-License-Identifier: Apache-2.0
// Puts the parts of a split model together.
#include "frontends/gguf/GgufModel.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

namespace talc {

constexpr const char *numberKey = "split.no", *countKey = "split.count", *tensorsKey = "split.tensors.count";

namespace {

// NAME-00002-of-00003.gguf
struct PartName {
  llvm::StringRef base;
  unsigned number = 0, count = 0;  // from 1 on; 0: no part
};

}  // namespace

static PartName partName(llvm::StringRef file) {
  constexpr size_t digits = 5;
  llvm::StringRef rest = file;
  PartName part;
  if (!rest.consume_back(".gguf") || rest.size() <= 2 * digits + strlen("--of-"))
    return {};
  llvm::StringRef count = rest.take_back(digits);
  rest = rest.drop_back(digits);
  if (!rest.consume_back("-of-"))
    return {};
  llvm::StringRef number = rest.take_back(digits);
  rest = rest.drop_back(digits);
  bool isPart = rest.consume_back("-") && !count.getAsInteger(10, part.count) && !number.getAsInteger(10, part.number);
  part.base = rest;
  return isPart && part.number >= 1 && part.number <= part.count ? part : PartName();
}

std::vector<std::string> GgufModel::partNames(const std::string &file) {
  constexpr unsigned mostParts = 4096;
  PartName name = partName(file);
  std::vector<std::string> result;
  for (unsigned number = 1; number <= name.count && name.count <= mostParts; ++number)
    result.push_back(fmt::format("{}-{:05}-of-{:05}.gguf", name.base.str(), number, name.count));
  if (result.empty())
    result.push_back(file);
  return result;
}

std::string GgufModel::name() const {
  PartName part = partName(file());
  return part.count ? part.base.str() : llvm::sys::path::stem(file()).str();
}

const nlohmann::json *GgufModel::find(const std::string &key) const {
  auto it = values.find(key);
  return it == values.end() ? nullptr : &it->second;
}

const GgufModel::Tensor *GgufModel::tensor(const std::string &name) const {
  auto it = entries.find(name);
  return it == entries.end() ? nullptr : &it->second;
}

std::string GgufModel::followLink(const std::string &path) {
  llvm::SmallString<128> target;
  bool isFile = !llvm::sys::fs::real_path(path, target) && llvm::sys::path::extension(target) == ".gguf";
  return llvm::sys::fs::is_symlink_file(path) && isFile ? target.str().str() : path;
}

std::optional<GgufModel> GgufModel::open(const std::string &link, Diagnostics &diagnostics) {
  const std::string path = followLink(link);
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  auto directory = ModelDirectory::open(parent.empty() ? "." : parent.str(), diagnostics);
  if (!directory)
    return std::nullopt;
  GgufModel model(std::move(*directory), partNames(llvm::sys::path::filename(path).str()));
  if (!model.read(diagnostics))
    return std::nullopt;
  return model;
}

bool GgufModel::read(Diagnostics &diagnostics) {
  for (size_t number = 0; number < parts.size(); ++number)
    if (!readPart(number, diagnostics))
      return false;
  const nlohmann::json *total = find(tensorsKey);
  if (!total || *total == entries.size())
    return true;
  diagnostics.error(ImportError::TensorFile,
                    fmt::format("{}: key '{}' is {}, but there are {} tensors in {} files", file(), tensorsKey,
                                total->dump(), entries.size(), parts.size()));
  return false;
}

// The metadata of a part have to agree with its name.
bool GgufModel::checkSplit(const GgufFile &part, size_t number, Diagnostics &diagnostics) const {
  auto value = [&](const char *key, uint64_t fallback) {
    auto it = part.metadata.find(key);
    return it == part.metadata.end() ? nlohmann::json(fallback) : it->second;
  };
  nlohmann::json found = value(numberKey, 0), count = value(countKey, 1);
  bool single = parts.size() == 1 && (count == 0u || count == 1u);
  if (single || (found == number && count == parts.size()))
    return true;
  diagnostics.error(ImportError::TensorFile,
                    fmt::format("{}: is part {} of {} (keys '{}', '{}'), expected part {} of {} by its name",
                                parts[number], found.dump(), count.dump(), numberKey, countKey, number, parts.size()));
  return false;
}

bool GgufModel::readPart(size_t number, Diagnostics &diagnostics) {
  const std::string &name = parts[number];
  OpenFile opened = folder.openFile(name, diagnostics);
  auto part = opened ? readGguf(opened, name, diagnostics) : std::nullopt;
  if (!part || !checkSplit(*part, number, diagnostics))
    return false;
  if (number == 0)
    values = std::move(part->metadata);
  for (GgufTensor &tensor : part->tensors) {
    std::string key = tensor.name;
    if (entries.emplace(key, Tensor{name, std::move(tensor)}).second)
      continue;
    diagnostics.error(ImportError::TensorFile,
                      fmt::format("{}: tensor {} is in an earlier part as well", name, quotedText(key)));
    return false;
  }
  return true;
}

}  // namespace talc
