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
  virtual std::optional<QuantizedWeight> find(QuantizedParts &parts) const = 0;
  // Suffixes of tensors that it does not need: scales of activations, which are not quantized.
  virtual std::vector<std::string_view> ignored() const { return {}; }
};

using QuantizationPtr = std::unique_ptr<const Quantization>;

// Creates a method from its configuration; reports an error and returns null if that is wrong.
using QuantizationReader = QuantizationPtr (*)(const nlohmann::json &object, const ModelConfig &config,
                                               Diagnostics &diagnostics);
QuantizationPtr readCompressedTensors(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readGptq(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readAwq(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readFp8(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readMxfp4(const nlohmann::json &, const ModelConfig &, Diagnostics &);

// Reads `quantization_config` of config.json, or a separate file; null if there is none, or if it is wrong.
QuantizationPtr readQuantization(const ModelDirectory &directory, const nlohmann::json &config,
                                 Diagnostics &diagnostics);

}  // namespace talc
