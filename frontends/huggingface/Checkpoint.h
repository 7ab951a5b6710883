// SPDX-License-Identifier: Apache-2.0
// The tensors of a model directory: one safetensors file, or several with an index.
#pragma once

#include "frontends/ModelDirectory.h"
#include "frontends/WeightSource.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <set>

namespace talc {

class Checkpoint : public WeightSource {
public:
  // `basePrefix` ("transformer.") may be missing in the files' names or in the names that are asked for. Null
  // `quantization`: all weights are plain. The checkpoint keeps references to all but the prefix.
  static std::optional<Checkpoint> open(const ModelDirectory &directory, std::string basePrefix,
                                        Diagnostics &diagnostics, const Quantization *quantization = nullptr);

  bool has(const std::string &name) const override { return lookup(name) || isQuantized(name); }
  std::optional<WeightOrigin> find(const std::string &name, const std::vector<int64_t> &shape,
                                   const std::string &why) override;
  bool tied(const std::string &first, const std::string &second, bool isTied) override;
  void passOver(const std::string &name) override;

  // In a model of texts and images: keeps only the tensors of the text model, under its own names.
  void keepTextModel();

  // Reports tensors that no weight uses; warns of them if that is allowed. Reports an error if the checkpoint should be
  // quantized, but has no quantized tensor.
  void reportUnused(bool isAllowed) const;

private:
  using Tensor = CheckpointTensor;

  Checkpoint(const ModelDirectory &directory, std::string basePrefix, const Quantization *quantization,
             Diagnostics &diagnostics)
      : directory(directory), diagnostics(diagnostics), basePrefix(std::move(basePrefix)), quantization(quantization) {}
  bool addFile(const std::string &file);
  void renameBase();
  bool addShards();
  bool addShard(const std::string &file, const std::set<std::string> &names);
  const Tensor *lookup(const std::string &name) const;
  bool isQuantized(const std::string &name) const;
  std::optional<WeightOrigin> findQuantized(const std::string &name, const std::vector<int64_t> &shape);
  bool sameBytes(const Tensor &first, const Tensor &second) const;
  // Whether a tensor of `rank` dimensions, which nothing uses, is a buffer that versions of transformers saved, part of
  // what pools a text, or of a head of which the model has no part: programs load such checkpoints for other heads,
  // too. (LeftoverTensors.cpp)
  bool isLeftover(const std::string &stored, size_t rank) const;
  bool isOfPrediction(llvm::StringRef name) const;
  void reportMissing(const std::string &name) const;

  const ModelDirectory &directory;
  Diagnostics &diagnostics;
  std::string basePrefix;
  const Quantization *quantization;
  bool foundQuantized = false;
  std::map<std::string, Tensor> tensors;
  std::set<std::string> used;
};

}  // namespace talc
