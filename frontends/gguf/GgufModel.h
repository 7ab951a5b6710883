// SPDX-License-Identifier: Apache-2.0
// A model in one GGUF file, or in several that were split: NAME-00001-of-00003.gguf, ...
#pragma once

#include "frontends/ModelDirectory.h"
#include "frontends/gguf/GgufFile.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace talc {

class GgufModel {
public:
  struct Tensor {
    std::string file;
    GgufTensor entry;
  };

  // `path`: the file, or any part of a split one.
  static std::optional<GgufModel> open(const std::string &path, Diagnostics &diagnostics);

  // Returns null if there is no such key; the metadata are those of the first part.
  const nlohmann::json *find(const std::string &key) const;
  const std::map<std::string, nlohmann::json> &metadata() const { return values; }
  // Returns null if there is none.
  const Tensor *tensor(const std::string &name) const;
  const std::map<std::string, Tensor> &tensors() const { return entries; }

  const ModelDirectory &directory() const { return folder; }
  // The name of the first part, which has the metadata, for messages.
  const std::string &file() const { return parts.front(); }
  // The name of the file, without the number of its part.
  std::string name() const;

  // The file that a link leads to, if that has a name of its own; files of the Hugging Face cache have none, and their
  // links are the model's. Whoever names a link means the file.
  static std::string followLink(const std::string &path);
  // The plain names of all files of a model that has a file of this name.
  static std::vector<std::string> partNames(const std::string &file);

private:
  GgufModel(ModelDirectory folder, std::vector<std::string> parts)
      : folder(std::move(folder)), parts(std::move(parts)) {}
  bool read(Diagnostics &diagnostics);
  bool readPart(size_t number, Diagnostics &diagnostics);
  bool checkSplit(const GgufFile &part, size_t number, Diagnostics &diagnostics) const;

  ModelDirectory folder;
  std::vector<std::string> parts;
  std::map<std::string, nlohmann::json> values;
  std::map<std::string, Tensor> entries;
};

}  // namespace talc
