// SPDX-License-Identifier: Apache-2.0
// The tensors of a GGUF model under the names that families ask for.
#pragma once

#include "frontends/WeightSource.h"
#include "frontends/gguf/GgufArchitectures.h"
#include "frontends/gguf/GgufModel.h"

#include <set>

namespace talc {

class GgufWeights : public WeightSource {
public:
  // `headWidth`: of queries and keys. Keeps references to all.
  GgufWeights(const GgufModel &model, const GgufArchitecture &architecture, int64_t headWidth, Diagnostics &diagnostics)
      : model(model), architecture(architecture), headWidth(headWidth), diagnostics(diagnostics) {}

  bool has(const std::string &name) const override { return model.tensor(locate(name).name) != nullptr; }
  std::optional<WeightOrigin> find(const std::string &name, const std::vector<int64_t> &shape,
                                   const std::string &why) override;
  bool tied(const std::string &first, const std::string &second, bool isTied) override;

  // Reports tensors that nobody asked for; warns of them if that is allowed.
  void reportUnused(bool isAllowed) const;

private:
  GgufTensorName locate(const std::string &name) const { return ggufTensorName(architecture, name); }
  const StorageFormat *getStorageFormat(const GgufModel::Tensor &tensor) const;
  bool checkShape(const GgufModel::Tensor &tensor, std::vector<int64_t> shape, const GgufTensorName &place,
                  const std::string &why) const;
  bool predictsFurther(llvm::StringRef name) const;
  bool hasFactor(const GgufModel::Tensor &tensor) const;
  bool sameBytes(const GgufModel::Tensor &first, const GgufModel::Tensor &second) const;

  const GgufModel &model;
  const GgufArchitecture &architecture;
  const int64_t headWidth;
  Diagnostics &diagnostics;
  std::set<std::string> used;
};

}  // namespace talc
