// SPDX-License-Identifier: Apache-2.0
// The tensors of a model directory: one safetensors file, or several with an index.
#pragma once

#include "frontends/ModelDirectory.h"
#include "frontends/WeightSource.h"
#include "frontends/huggingface/SafetensorsFile.h"

#include <map>
#include <set>

namespace talc {

class Checkpoint : public WeightSource {
public:
  // `basePrefix` ("transformer.") may be missing in the files' names or in the names that are asked for. The checkpoint
  // keeps references to `directory` and `diagnostics`.
  static std::optional<Checkpoint> open(const ModelDirectory &directory, std::string basePrefix,
                                        Diagnostics &diagnostics);

  bool has(const std::string &name) const override { return lookup(name) != nullptr; }
  std::optional<WeightOrigin> find(const std::string &name, const std::vector<int64_t> &shape,
                                   const std::string &why) override;
  bool tied(const std::string &first, const std::string &second, bool wanted) override;

  // Warns of tensors that nobody asked for.
  void reportUnused() const;

private:
  struct Tensor {
    std::string file;
    SafetensorsEntry entry;
  };

  Checkpoint(const ModelDirectory &directory, std::string basePrefix, Diagnostics &diagnostics)
      : directory(directory), diagnostics(diagnostics), basePrefix(std::move(basePrefix)) {}
  bool addFile(const std::string &file);
  bool addShards();
  bool addShard(const std::string &file, const std::set<std::string> &names);
  const Tensor *lookup(const std::string &name) const;
  bool sameBytes(const Tensor &first, const Tensor &second) const;
  void reportMissing(const std::string &name) const;

  const ModelDirectory &directory;
  Diagnostics &diagnostics;
  std::string basePrefix;
  std::map<std::string, Tensor> tensors;
  std::set<std::string> used;
};

}  // namespace talc
