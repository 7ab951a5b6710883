// SPDX-License-Identifier: Apache-2.0
// Reads the rotary position embedding, in the spellings of transformers 4 and 5.
//
//   4: {"rope_theta": 1e4, "rope_scaling": null or {"rope_type" (or "type"): "linear", "factor": 2.0}}
//   5: {"rope_parameters": {"rope_theta": 1e4, "rope_type": "default", ...}}, or one such object per type of layer
#include "frontends/ModelConfig.h"

#include "frontends/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace talc {

std::optional<ModelConfig> ModelConfig::inner(const std::string &key) const {
  if (!has(key.c_str()))
    return std::nullopt;
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

// Whether rope_scaling, which may lack the keys that had a place of their own, says the same as rope_parameters.
static bool agrees(const nlohmann::json &scaling, const nlohmann::json &parameters) {
  if (!scaling.is_object() || !parameters.is_object())
    return false;
  auto standard = [&](const nlohmann::json &object) {
    nlohmann::json result = object;
    if (object.contains("type"))
      result["rope_type"] = object.value("rope_type", object["type"]);
    result.erase("type");
    for (const char *key : {"rope_theta", "partial_rotary_factor"})
      if (!scaling.contains(key))
        result.erase(key);
    return result;
  };
  return standard(scaling) == standard(parameters);
}

// The object with the keys of the rotary embedding; the configuration itself if they have none.
std::optional<ModelConfig> ModelConfig::ropeParameters(const std::string &layerType, const RopeKeys &keys) const {
  if (has("rope_parameters") && has("rope_scaling") && !agrees(*find("rope_scaling"), *find("rope_parameters"))) {
    invalid("rope_scaling", "contradicts 'rope_parameters'; one of them must go");
    return std::nullopt;
  }
  if (has("rope_scaling") && !has("rope_parameters"))
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
  if (!keys.isByType) {
    unsupported("rope_parameters", "has an object for each type of layer, but layers of this model_type have one type");
    return std::nullopt;
  }
  if (parameters->has(layerType.c_str()))
    return parameters->inner(layerType);
  parameters->invalid(layerType, "is missing");
  return std::nullopt;
}

double ModelConfig::scalingFactor(const ModelConfig &parameters) const {
  if (!parameters.has("factor"))
    parameters.invalid("factor", "is missing");
  return parameters.positive("factor", 1);
}

// The original context length.
int64_t ModelConfig::originalPositions(const ModelConfig &parameters, int64_t fallback) const {
  const char *original = "original_max_position_embeddings";
  const ModelConfig &place = has(original) ? *this : parameters;
  if (place.has(original) || fallback > 0)
    return place.integer(original, fallback, positionCount);
  if (!has("max_position_embeddings"))
    parameters.invalid(original, "is missing");
  return integer("max_position_embeddings", 1, positionCount);
}

Llama3Scaling ModelConfig::llama3Scaling(const ModelConfig &parameters, int64_t original) const {
  Llama3Scaling scaling;
  for (const char *key : {"low_freq_factor", "high_freq_factor"})
    if (!parameters.has(key))
      parameters.invalid(key, "is missing");
  scaling.factor = scalingFactor(parameters);
  scaling.low = parameters.positive("low_freq_factor", 1);
  scaling.high = parameters.positive("high_freq_factor", 4);
  if (!(scaling.low < scaling.high))
    parameters.invalid("low_freq_factor",
                       fmt::format("is {}, expected less than the high_freq_factor of {}", scaling.low, scaling.high));
  scaling.original = original;
  return scaling;
}

// A number that is absent, null or 0 takes the default.
static double orDefault(const ModelConfig &parameters, const char *key, double fallback) {
  constexpr double maxFactor = 1e30;
  double value = parameters.has(key) ? parameters.number(key, 0, 0, maxFactor) : 0;
  return value == 0 ? fallback : value;
}

YarnScaling ModelConfig::yarnScaling(const ModelConfig &parameters, int64_t original) const {
  YarnScaling scaling;
  scaling.original = original;
  scaling.factor = parameters.has("factor")
                       ? parameters.positive("factor", 1)
                       : static_cast<double>(integer("max_position_embeddings", 1, positionCount)) /
                             static_cast<double>(scaling.original);
  scaling.fast = orDefault(parameters, "beta_fast", 32);
  scaling.slow = orDefault(parameters, "beta_slow", 1);
  scaling.truncate = parameters.flag("truncate", true);
  bool isForAll = parameters.prefix == prefix + "rope_parameters." || parameters.prefix == prefix + "rope_scaling.";
  if (!scaling.truncate && !isForAll)
    parameters.unsupported("truncate", "is false for a type of layers; talc knows it for all");
  auto amplitude = [&](double weight) { return scaling.factor <= 1 ? 1 : 0.1 * weight * std::log(scaling.factor) + 1; };
  double one = orDefault(parameters, "mscale", 0), all = orDefault(parameters, "mscale_all_dim", 0);
  scaling.amplitude = one > 0 && all > 0 ? amplitude(one) / amplitude(all) : amplitude(1);
  if (parameters.has("attention_factor"))
    scaling.amplitude = parameters.positive("attention_factor", 1);
  return scaling;
}

LongScaling ModelConfig::longScaling(const ModelConfig &parameters, int64_t original, int64_t rotary) const {
  LongScaling scaling;
  scaling.original = original;
  auto longest = static_cast<double>(integer("max_position_embeddings", original, positionCount));
  auto shorter = static_cast<double>(std::max<int64_t>(original, 2));
  double factor = parameters.has("factor") ? parameters.positive("factor", 1) : longest / shorter;
  scaling.amplitude = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(shorter));
  if (parameters.has("attention_factor"))
    scaling.amplitude = parameters.positive("attention_factor", 1);
  auto read = [&](const char *key) {
    std::vector<double> factors = parameters.numbers(key);
    bool fits = static_cast<int64_t>(factors.size()) == rotary / 2;
    if (!fits || std::any_of(factors.begin(), factors.end(), [](double factor) { return !(factor > 0); }))
      parameters.invalid(key, fmt::format("has {} numbers, expected {} above 0, one for each pair of turned features",
                                          factors.size(), rotary / 2));
    return factors;
  };
  scaling.shortFactors = read("short_factor");
  scaling.longFactors = read("long_factor");
  return scaling;
}

// Reports values that are valid by themselves, but not with a scaling. Keys that `parameters` lack are in `config`.
static void checkScaling(const Rope &rope, const ModelConfig &config, const ModelConfig &parameters,
                         const char *theta) {
  bool hasTheta = parameters.has("rope_theta");
  if (std::holds_alternative<YarnScaling>(rope.scaling) && !(rope.base > 1))
    (hasTheta ? parameters : config)
        .invalid(hasTheta ? "rope_theta" : theta, fmt::format("is {}, expected more than 1 with yarn", rope.base));
  if (std::holds_alternative<DynamicScaling>(rope.scaling) && rope.rotary <= 2)
    parameters.invalid("rope_type", "is dynamic, expected heads of which more than 2 features are turned");
}

void ModelConfig::readScaling(Rope &rope, const ModelConfig &parameters, const RopeKeys &keys) const {
  const char *key = parameters.has("rope_type") ? "rope_type" : "type";
  if (parameters.object == object)
    return;
  bool scales = parameters.prefix == prefix + "rope_scaling." || parameters.has("factor");
  if (scales && !parameters.has(key))
    return parameters.unsupported("rope_type", "is missing; talc does not guess how positions are scaled");
  std::string type = parameters.text(key, "default");
  // The former names in Phi-3.
  bool listed = type == "longrope" || type == "su" || (type == "yarn" && parameters.has("short_factor"));
  if (type == "default")
    return;
  auto original = [&] { return originalPositions(parameters, keys.original); };
  if (listed)
    rope.scaling = longScaling(parameters, original(), rope.rotary);
  else if (type == "llama3")
    rope.scaling = llama3Scaling(parameters, original());
  else if (type == "linear")
    rope.scaling = LinearScaling{scalingFactor(parameters)};
  else if (type == "yarn")
    rope.scaling = yarnScaling(parameters, original());
  else if (type == "dynamic")
    rope.scaling = DynamicScaling{scalingFactor(parameters), integer("max_position_embeddings", 2048, positionCount)};
  else
    parameters.unsupported(
        key, fmt::format("is {}, expected default, linear, llama3, yarn, dynamic or longrope", quotedText(type)));
  checkScaling(rope, *this, parameters, keys.thetaKey);
}

// Keys that change how positions turn, where talc does not know them.
void ModelConfig::refuseOtherRopeKeys(const RopeKeys &keys) const {
  static constexpr std::string_view known[] = {"rope_type",        "type",
                                               "rope_theta",       "partial_rotary_factor",
                                               "factor",           "attention_factor",
                                               "beta_fast",        "beta_slow",
                                               "mscale",           "mscale_all_dim",
                                               "truncate",         "short_factor",
                                               "long_factor",      "low_freq_factor",
                                               "high_freq_factor", "original_max_position_embeddings"};
  for (const auto &[key, value] : object->items())
    if (!value.is_null() && std::find(std::begin(known), std::end(known), key) == std::end(known) &&
        std::find(keys.others.begin(), keys.others.end(), key) == keys.others.end())
      unsupported(key, "may change how positions turn, and talc does not know how");
}

Rope ModelConfig::rope(int64_t headWidth, const std::string &layerType, const RopeKeys &keys) const {
  Rope rope{headWidth, keys.theta, {}};
  auto parameters = ropeParameters(layerType, keys);
  if (!parameters)
    return rope;
  // Parameters without a type are for the other layers.
  const ModelConfig &used =
      keys.ownScaling && parameters->prefix != prefix + "rope_parameters." + layerType + "." ? *this : *parameters;
  if (used.object != object)
    used.refuseOtherRopeKeys(keys);
  rope.base = used.object == object ? positive(keys.thetaKey, keys.theta)
                                    : used.positive("rope_theta", positive(keys.thetaKey, keys.theta));
  const char *partial = "partial_rotary_factor";
  double share = used.number(partial, number(keys.shareKey, keys.share, 0, 1), 0, 1);
  rope.rotary = static_cast<int64_t>(static_cast<double>(headWidth) * share);
  if (rope.rotary <= 0 || rope.rotary % 2 != 0)
    invalid(keys.shareKey,
            fmt::format("turns {} of {} features of each head, expected an even number > 0", rope.rotary, headWidth));
  readScaling(rope, used, keys);
  if (!keys.hasShare && share != keys.share && std::holds_alternative<std::monostate>(rope.scaling))
    (used.has(partial) ? used : *this)
        .unsupported(partial, fmt::format("is {}, but models of this model_type turn all features of a head", share));
  return rope;
}

}  // namespace talc
