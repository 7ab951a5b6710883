// SPDX-License-Identifier: Apache-2.0
// Checkpoints that have weights as levels and scales, in tensors whose names and layouts are those of a method.
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

// One method with the parameters of its configuration. Which weights it made the tensors tell: parts of a weight have
// the weight's name and a suffix; one that begins with '.' stands in the place of ".weight".
class Quantization {
public:
  virtual ~Quantization() = default;

  // Whether a weight with these parts is this method's.
  virtual bool covers(const QuantizedParts &parts) const = 0;
  // The weight. On failure an error was reported.
  virtual std::optional<QuantizedWeight> find(QuantizedParts &parts) const = 0;
  // Ends of names of tensors that it does not need: scales of activations, which stay what they are.
  virtual std::vector<std::string_view> ignored() const { return {}; }
};

using QuantizationPtr = std::unique_ptr<const Quantization>;

// Makes a method of its configuration; null if that is wrong, which was reported.
using QuantizationReader = QuantizationPtr (*)(const nlohmann::json &object, const ModelConfig &config,
                                               Diagnostics &diagnostics);
QuantizationPtr readCompressedTensors(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readGptq(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readAwq(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readFp8(const nlohmann::json &, const ModelConfig &, Diagnostics &);
QuantizationPtr readMxfp4(const nlohmann::json &, const ModelConfig &, Diagnostics &);

// What `quantization_config` of config.json says, or a file of its own; null if there is none, or it is wrong.
QuantizationPtr readQuantization(const ModelDirectory &directory, const nlohmann::json &config,
                                 Diagnostics &diagnostics);

}  // namespace talc
