// SPDX-License-Identifier: Apache-2.0
// ModelOpt of NVIDIA: FP8 with a scale for the tensor or for every row, and NVFP4. What a tensor is, its type tells.
//
//   FP8     M.weight F8_E4M3 [N, K]     M.weight_scale F32, of one number or [N]
//   NVFP4   M.weight U8 [N, K / 2], element 2 i in the lower half   M.weight_scale F8_E4M3 [N, K / 16]
//           M.weight_scale_2 F32, by which scales are multiplied
//
// Values are those of its dequantize in the model's type: scales of FP8 are rounded to that first.
#include "frontends/Json.h"
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/JsonConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include "dialects/talc/formats/SmallFloats.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace talc {

using Kind = CodeTable::Kind;
using Sign = QuantizedParts::Sign;

namespace {

class Modelopt : public Quantization {
public:
  explicit Modelopt(FormatRef type) : type(type) {}

  bool covers(const QuantizedParts &parts) const override {
    const CheckpointTensor *tensor = parts.find("");
    return tensor && (tensor->entry.type == "F8_E4M3" || (tensor->entry.type == "U8" && parts.has("_scale")));
  }

  std::optional<WeightOrigin> find(QuantizedParts &parts) const override {
    if (!parts.isMatrix()) {
      parts.refuse("is not a matrix, and talc reads only matrices of ModelOpt");
      return std::nullopt;
    }
    for (const char *suffix : {".pre_quant_scale", ".svdquant_lora_a"})
      if (parts.has(suffix)) {
        parts.refuse(
            fmt::format("has the tensor {}, which changes what it multiplies, and talc does not know how", suffix));
        return std::nullopt;
      }
    return parts.find("")->entry.type == "U8" ? findFp4(parts) : findFp8(parts);
  }

  std::vector<std::string_view> ignored() const override {
    return {".input_scale", ".k_scale", ".v_scale", ".q_scale", ".output_scale"};
  }

private:
  std::optional<WeightOrigin> findFp8(QuantizedParts &parts) const;
  std::optional<WeightOrigin> findFp4(QuantizedParts &parts) const;
  bool isExact(float scale) const;

  const FormatRef type;
};

}  // namespace

// Whether no number changes if the scale is rounded before it multiplies.
bool Modelopt::isExact(float scale) const {
  if (type->exact)
    return true;
  auto round = [&](float value) {
    uint8_t bytes[4];
    type->encode(&value, 1, 1, bytes);
    type->decode(bytes, 1, 1, &value);
    return value;
  };
  const float rounded = round(scale);
  for (uint32_t code = 0; code < 0x7f; ++code)
    if (round(e4m3ToFloat(code) * scale) != round(e4m3ToFloat(code) * rounded))
      return false;
  return true;
}

std::optional<WeightOrigin> Modelopt::findFp8(QuantizedParts &parts) const {
  int64_t n = parts.rows, k = parts.columns;
  auto *numbers = parts.need("", {"F8_E4M3"}, {{n, k}});
  auto *scales = numbers ? parts.need("_scale", {"F32"}, {{}, {1}, {n}, {n, 1}}) : nullptr;
  if (!scales || !parts.checkScales(*scales, Kind::F32, Sign::NotNegative))
    return std::nullopt;
  bool isSingle = scales->entry.bytes == sizeof(float);
  if (llvm::all_of(parts.numbers(*scales, Kind::F32), [&](float scale) { return isExact(scale); }))
    return QuantizedWeight{type,
                           parts.floats(*numbers, k),
                           parts.floats(*scales, 1),
                           isSingle ? n : 1,
                           k,
                           parts.findBlockFormat("fp8", k, type)};
  LookupWeight weight{type, parts.floats(*numbers, 0), parts.floats(*scales, 0), isSingle ? n * k : k};
  weight.scaleFormat = type;
  return weight;
}

std::optional<WeightOrigin> Modelopt::findFp4(QuantizedParts &parts) const {
  constexpr int64_t size = 16;
  int64_t n = parts.rows, k = parts.columns;
  if (k % size != 0) {
    parts.refuse(fmt::format("has rows of {} values, which are not whole groups of {}", k, size));
    return std::nullopt;
  }
  auto *numbers = parts.need("", {"U8"}, {{n, k / 2}});
  auto *scales = numbers ? parts.need("_scale", {"F8_E4M3"}, {{n, k / size}}) : nullptr;
  auto *factor = scales ? parts.need("_scale_2", {"F32"}, {{}, {1}}) : nullptr;
  if (!factor || !parts.checkScales(*scales, Kind::E4M3, Sign::NotNegative) ||
      !parts.checkScales(*factor, Kind::F32, Sign::Positive))
    return std::nullopt;
  QuantizedWeight weight{type, parts.codes(*numbers, Kind::E2M1, 4, k * 4), parts.floats(*scales, k / size), 1, size};
  weight.factor = parts.floats(*factor, 1);
  weight.format = parts.findBlockFormat("nvfp4", k, type);
  return weight;
}

//===--- the configuration ----------------------------------------------------------------------------------------===//

// The type of the model before it was quantized.
static FormatRef readModelType(const nlohmann::json &model, Diagnostics &diagnostics) {
  JsonConfig source(model, "config.json");
  ModelConfig config(source, diagnostics);
  const char *key = config.has("dtype") ? "dtype" : "torch_dtype";
  checkName(config, key, {"float32", "float16", "bfloat16"});
  std::string name = config.has(key) ? config.text(key, "") : "bfloat16";
  return findStorageFormat(name == "float32" ? "f32" : name == "float16" ? "f16" : "bf16");
}

static void checkAlgorithm(const ModelConfig &config) {
  if (!config.has("quant_algo"))
    config.invalid("quant_algo", "is missing");
  checkName(config, "quant_algo", {"FP8", "FP8_PER_CHANNEL_PER_TOKEN", "NVFP4", "W4A16_NVFP4", "MIXED_PRECISION"});
}

// Algorithms of modules, where not all have the same.
static void checkLayers(const nlohmann::json &object, const std::string &place, Diagnostics &diagnostics) {
  auto layers = object.find("quantized_layers");
  if (layers == object.end() || !layers->is_object())
    return;
  for (auto &[name, layer] : layers->items()) {
    JsonConfig source(layer, place + quotedText(name));
    ModelConfig config(source, diagnostics);
    if (!layer.is_object())
      config.invalid("quant_algo", "is missing");
    else
      checkAlgorithm(config);
    if (config.failed())
      return;
  }
}

// In a file of its own, the parameters stand in an object.
static void checkConfig(const nlohmann::json &object, const ModelConfig &config, Diagnostics &diagnostics) {
  using V = KnownValues;
  checkKnownKeys(object, config,
                 {{"quant_method", V::Any},
                  {"quant_algo", V::Text},
                  {"kv_cache_quant_algo", V::Text},
                  {"kv_cache_scheme", V::Any},
                  {"group_size", V::Any},
                  {"exclude_modules", V::Texts},
                  {"ignore", V::Texts},
                  {"quantized_layers", V::Object},
                  {"config_groups", V::Object},
                  {"producer", V::Object},
                  {"has_zero_point", V::Flag},
                  {"pre_quant_scale", V::Flag}},
                 UnknownKeys::Warned, diagnostics);
  checkAlgorithm(config);
  checkName(config, "kv_cache_quant_algo", {"FP8", "NVFP4", "INT8", "none"});
  config.refuseFlag("has_zero_point", "talc knows FP8 and NVFP4, which have none");
  config.refuseFlag("pre_quant_scale", "it changes what weights multiply, and talc does not know how");
  if (config.has("group_size") && config.integer("group_size", 16, {1, 1 << 20}) != 16)
    config.unsupported("group_size", "is not 16");
  checkLayers(object, "config.json: quantization_config.quantized_layers.", diagnostics);
  if (config.has("kv_cache_quant_algo") || config.has("kv_cache_scheme"))
    diagnostics.warning("config.json: quantization_config: the KV cache is not rounded as the configuration says");
  diagnostics.warning("config.json: quantization_config: activations are not rounded, weights are as they are in the "
                      "files");
}

QuantizationPtr readModelopt(const QuantizationKeys &keys, Diagnostics &diagnostics) {
  auto inner = keys.object.find("quantization");
  if (inner != keys.object.end() && inner->is_object()) {
    JsonConfig source(*inner, "hf_quant_config.json: quantization");
    checkConfig(*inner, ModelConfig(source, diagnostics), diagnostics);
  } else {
    checkConfig(keys.object, keys.config, diagnostics);
  }
  FormatRef type = readModelType(keys.model, diagnostics);
  return diagnostics.failed() ? nullptr : std::make_unique<Modelopt>(type);
}

}  // namespace talc
