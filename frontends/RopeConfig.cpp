// SPDX-License-Identifier: Apache-2.0
// Reads the rotary position embedding, in the spellings of transformers 4 and 5.
//
//   4: {"rope_theta": 1e4, "rope_scaling": null or {"rope_type" (or "type"): "linear", "factor": 2.0}}
//   5: {"rope_parameters": {"rope_theta": 1e4, "rope_type": "default", ...}}, or one such object per type of layer
#include "frontends/ModelConfig.h"

#include "frontends/Json.h"

#include <fmt/format.h>

namespace talc {

// The object under a key that is there.
std::optional<ModelConfig> ModelConfig::inner(const std::string &key) const {
  const nlohmann::json &value = *find(key.c_str());
  if (!value.is_object()) {
    wrong(ImportError::ConfigType, key, value, "an object or null");
    return std::nullopt;
  }
  ModelConfig result(source, diagnostics);
  result.object = &value;
  result.prefix = prefix + key + ".";
  return result;
}

// Where the keys of the rotary embedding stand; beside all others if they have no object of their own.
std::optional<ModelConfig> ModelConfig::ropeParameters(const std::string &layerType) const {
  if (has("rope_parameters") && has("rope_scaling")) {
    invalid("rope_scaling", "contradicts 'rope_parameters'; one of them must go");
    return std::nullopt;
  }
  if (has("rope_scaling"))
    return inner("rope_scaling");
  if (!has("rope_parameters"))
    return *this;
  auto parameters = inner("rope_parameters");
  bool keyed = false;
  if (parameters)
    for (const nlohmann::json &value : *parameters->object)
      keyed |= value.is_object();
  if (!keyed)
    return parameters;
  if (parameters->has(layerType.c_str()))
    return parameters->inner(layerType);
  parameters->invalid(layerType, "is missing");
  return std::nullopt;
}

Llama3Scaling ModelConfig::llama3Scaling(const ModelConfig &parameters) const {
  Llama3Scaling scaling;
  for (const char *key : {"factor", "low_freq_factor", "high_freq_factor"})
    if (!parameters.has(key))
      parameters.invalid(key, "is missing");
  scaling.factor = parameters.positive("factor", 1);
  scaling.low = parameters.positive("low_freq_factor", 1);
  scaling.high = parameters.positive("high_freq_factor", 4);
  if (!(scaling.low < scaling.high))
    parameters.invalid("low_freq_factor",
                       fmt::format("is {}, expected less than the high_freq_factor of {}", scaling.low, scaling.high));
  const char *original = "original_max_position_embeddings";
  const ModelConfig &place = has(original) ? *this : parameters;
  if (!place.has(original) && !has("max_position_embeddings"))
    parameters.invalid(original, "is missing");
  scaling.original = place.has(original) ? place.integer(original, 1, positionCount)
                                         : integer("max_position_embeddings", 1, positionCount);
  return scaling;
}

void ModelConfig::readScaling(Rope &rope, const ModelConfig &parameters) const {
  const char *key = parameters.has("rope_type") ? "rope_type" : "type";
  std::string type = parameters.object == object ? "default" : parameters.text(key, "default");
  if (type == "default")
    return;
  if (type == "llama3") {
    rope.scaling = llama3Scaling(parameters);
  } else if (type == "linear") {
    if (!parameters.has("factor"))
      parameters.invalid("factor", "is missing");
    rope.scaling = LinearScaling{parameters.positive("factor", 1)};
  } else {
    parameters.unsupported(key, fmt::format("is {}, expected default, linear or llama3", quotedText(type)));
  }
}

Rope ModelConfig::rope(int64_t headWidth, const std::string &layerType, double theta) const {
  Rope rope{headWidth, theta, {}};
  auto parameters = ropeParameters(layerType);
  if (!parameters)
    return rope;
  rope.base = parameters->positive("rope_theta", positive("rope_theta", theta));
  const char *partial = "partial_rotary_factor";
  double share = parameters->number(partial, number(partial, 1, 0, 1), 0, 1);
  rope.rotary = static_cast<int64_t>(static_cast<double>(headWidth) * share);
  if (rope.rotary <= 0 || rope.rotary % 2 != 0)
    invalid(partial,
            fmt::format("turns {} of {} features of each head, expected an even number > 0", rope.rotary, headWidth));
  readScaling(rope, *parameters);
  return rope;
}

}  // namespace talc
