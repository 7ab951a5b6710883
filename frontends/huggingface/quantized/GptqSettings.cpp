// SPDX-License-Identifier: Apache-2.0
// Reads the configuration of GPTQ, with the overrides of GPTQModel.
#include "frontends/huggingface/quantized/GptqSettings.h"

#include "frontends/Json.h"
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/JsonConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

namespace talc {

// Keys that are not read say how the codes were found.
static void checkKeys(const nlohmann::json &object, const ModelConfig &config, Diagnostics &diagnostics) {
  using V = KnownValues;
  checkKnownKeys(object, config,
                 {{"quant_method", V::Any},
                  {"method", V::Text},
                  {"bits", V::Any},
                  {"group_size", V::Any},
                  {"desc_act", V::Any},
                  {"sym", V::Any},
                  {"format", V::Text},
                  {"checkpoint_format", V::Any},
                  {"is_marlin_format", V::Any},
                  {"pack_dtype", V::Any},
                  {"dynamic", V::Object},
                  {"lm_head", V::Flag},
                  {"act_group_aware", V::Flag},
                  {"adapter", V::Any},
                  {"backend", V::Text},
                  {"batch_size", V::Number},
                  {"block_name_to_quantize", V::Text},
                  {"cache_block_outputs", V::Flag},
                  {"cache_examples_on_gpu", V::Flag},
                  {"damp_auto_increment", V::NumberOrFlag},
                  {"damp_percent", V::Number},
                  {"dataset", V::Any},
                  {"disable_exllama", V::Flag},
                  {"exllama_config", V::Object},
                  {"gptaq", V::Any},
                  {"foem", V::Any},
                  {"hyb_act", V::Flag},
                  {"max_input_length", V::Number},
                  {"meta", V::Object},
                  {"model_file_base_name", V::Text},
                  {"model_name_or_path", V::Text},
                  {"model_seqlen", V::Number},
                  {"module_name_preceding_first_block", V::Texts},
                  {"modules_in_block_to_quantize", V::Any},
                  {"mse", V::NumberOrFlag},
                  {"pad_token_id", V::Number},
                  {"quantizer", V::Text},
                  {"static_groups", V::Flag},
                  {"tokenizer", V::Any},
                  {"true_sequential", V::Flag},
                  {"use_cuda_fp16", V::Flag},
                  {"use_exllama", V::Flag}},
                 UnknownKeys::Warned, diagnostics);
  checkName(config, "method", {"gptq"});
  checkName(config, "format", {"gptq", "gptq_v2"});
  if (config.isText("format") && config.isText("checkpoint_format") &&
      config.text("format", "") != config.text("checkpoint_format", ""))
    config.invalid("format", "contradicts 'checkpoint_format'");
}

// Keys that are missing are those of `usual`.
static GptqSettings readSettings(const ModelConfig &config, const GptqSettings &usual) {
  GptqSettings settings;
  settings.bits = config.integer("bits", usual.bits, {1, 8});
  if (settings.bits != 2 && settings.bits != 3 && settings.bits != 4 && settings.bits != 8)
    config.unsupported("bits", fmt::format("is {}, expected 2, 3, 4 or 8", settings.bits));
  settings.groupSize = config.integer("group_size", usual.groupSize, {-1, 1 << 20});
  if (settings.groupSize == 0)
    config.invalid("group_size", "is 0, expected -1 or a number > 0");
  settings.isSymmetric = config.flag("sym", usual.isSymmetric);
  settings.ordersByActivation = config.has("desc_act") ? config.flag("desc_act", false) : usual.ordersByActivation;
  if (config.has("adapter"))
    config.unsupported("adapter", "adds to the weights, and talc does not know how");
  return settings;
}

// `expression` begins with "+:", or with "-:" if the modules are not quantized.
static void readOverride(llvm::StringRef expression, const nlohmann::json &values, const ModelConfig &config,
                         GptqConfig &result, Diagnostics &diagnostics) {
  using V = KnownValues;
  llvm::StringRef text = expression;
  bool isQuantized = !text.consume_front("-:");
  text.consume_front("+:");
  auto pattern = ModulePattern::parse(text);
  if (!pattern)
    return config.unsupported(
        "dynamic", fmt::format("holds the expression {}, which talc does not understand", quotedText(expression)));
  if (!values.is_object())
    return config.invalid("dynamic",
                          fmt::format("is {} for {}, expected an object", jsonText(values), quotedText(expression)));
  JsonConfig source(values, "config.json: quantization_config.dynamic." + quotedText(expression));
  ModelConfig keys(source, diagnostics);
  checkKnownKeys(values, keys,
                 {{"bits", V::Any},
                  {"group_size", V::Any},
                  {"sym", V::Any},
                  {"desc_act", V::Any},
                  {"adapter", V::Any},
                  {"act_group_aware", V::Flag},
                  {"static_groups", V::Flag},
                  {"true_sequential", V::Flag},
                  {"damp_percent", V::Number},
                  {"damp_auto_increment", V::NumberOrFlag},
                  {"mse", V::NumberOrFlag}},
                 UnknownKeys::Refused, diagnostics);
  result.dynamic.push_back({std::move(*pattern), isQuantized, readSettings(keys, result.all)});
}

GptqConfig readGptqConfig(const nlohmann::json &object, const ModelConfig &config, Diagnostics &diagnostics) {
  constexpr size_t mostOverrides = 4096;
  checkKeys(object, config, diagnostics);
  GptqConfig result;
  std::string format =
      config.text("checkpoint_format", config.isText("format") ? config.text("format", "") : std::string("gptq"));
  if (format != "gptq" && format != "gptq_v2")
    config.unsupported("checkpoint_format", "is none of gptq and gptq_v2");
  if (config.text("pack_dtype", "int32") != "int32")
    config.unsupported("pack_dtype", "is not int32");
  config.refuseFlag("is_marlin_format", "weights lie in the order of one kind of GPU");
  result.isFirstFormat = format == "gptq";
  result.all = readSettings(config, {});
  auto dynamic = object.find("dynamic");
  if (dynamic == object.end() || !dynamic->is_object())
    return result;
  if (dynamic->size() > mostOverrides)
    config.unsupported("dynamic", fmt::format("has more than {} entries", mostOverrides));
  for (auto &[expression, values] : dynamic->items())
    if (!config.failed())
      readOverride(expression, values, config, result, diagnostics);
  return result;
}

}  // namespace talc
