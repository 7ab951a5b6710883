// SPDX-License-Identifier: Apache-2.0
// Loads a model onto a GPU, whatever its driver is.
#pragma once

#include "runtime/artifact/CodeChoice.h"
#include "runtime/artifact/ModelWeights.h"
#include "runtime/device/Device.h"

namespace talc {

// Chooses code of a family, and brings it and the weights that it reads to a GPU. `Model` is made of gpu, file, facts
// and target, and has loadCode() and loadWeights().
template <typename Model, typename Gpu>
Status loadModel(const std::shared_ptr<const Gpu> &gpu, const CodeFamily &codes, const Artifact &file,
                 const artifact::ModelInfo &facts, const UploadProgress &progress,
                 std::unique_ptr<LoadedModel> &model) {
  CodeChoice code;
  ModelWeights weights;
  if (Status status = chooseCode(file, codes, code); status.failed())
    return status;
  if (Status status = weights.open(file, code.header.layout, facts); status.failed())
    return status;
  auto loaded = std::make_unique<Model>(gpu, file.name(), facts, code.target);
  if (Status status = loaded->loadCode(code.bytes, code.size); status.failed())
    return status;
  if (Status status = loaded->loadWeights(weights, progress); status.failed())
    return status;
  model = std::move(loaded);
  return {};
}

}  // namespace talc
