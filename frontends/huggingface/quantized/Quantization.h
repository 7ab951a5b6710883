// SPDX-License-Identifier: Apache-2.0
// Checkpoints with weights as codes and scales, in tensors whose names and layouts depend on the quantization method.
#pragma once

#include "frontends/huggingface/quantized/QuantizedParts.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

class ModelConfig;
class ModelDirectory;

// A method with the parameters of its configuration. The names of tensors tell which weights it quantized: parts of a
// weight have the weight's name and a suffix; a suffix that begins with '.' replaces ".weight".
class Quantization {
public:
  virtual ~Quantization() = default;

  // Whether this method quantized the weight with these parts.
  virtual bool covers(const QuantizedParts &parts) const = 0;
  // Finds the weight, or reports an error.
  virtual std::optional<WeightOrigin> find(QuantizedParts &parts) const = 0;
  // Suffixes of tensors that it does not need: scales of activations, which are not quantized.
  virtual std::vector<std::string_view> ignored() const { return {}; }
};

using QuantizationPtr = std::unique_ptr<const Quantization>;

// Creates a method from its configuration; reports an error and returns null if that is wrong. `model` is the model's.
struct QuantizationKeys {
  const nlohmann::json &object;
  const ModelConfig &config;  // of `object`
  const nlohmann::json &model;
};
using QuantizationReader = QuantizationPtr (*)(const QuantizationKeys &keys, Diagnostics &diagnostics);
QuantizationPtr readCompressedTensors(const QuantizationKeys &, Diagnostics &);
QuantizationPtr readGptq(const QuantizationKeys &, Diagnostics &);
QuantizationPtr readAwq(const QuantizationKeys &, Diagnostics &);
QuantizationPtr readFp8(const QuantizationKeys &, Diagnostics &);
QuantizationPtr readBitsandbytes(const QuantizationKeys &, Diagnostics &);
QuantizationPtr readModelopt(const QuantizationKeys &, Diagnostics &);
QuantizationPtr readMxfp4(const QuantizationKeys &, Diagnostics &);

// Reads `quantization_config` of config.json, or a separate file; null if there is none, or if it is wrong.
QuantizationPtr readQuantization(const ModelDirectory &directory, const nlohmann::json &config,
                                 Diagnostics &diagnostics);

}  // namespace talc
