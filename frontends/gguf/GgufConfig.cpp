// SPDX-License-Identifier: Apache-2.0
// Answers keys of config.json from the metadata's keys "<architecture>.<name>", and from which tensors there are.
#include "frontends/gguf/GgufConfig.h"

#include "frontends/Json.h"
#include "frontends/gguf/GgufKeys.h"
#include "frontends/gguf/RopeFactors.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace talc {

using nlohmann::json;

// A list with a number for each layer is one number if they are equal.
static const json &forAllLayers(const json &value) {
  bool isOne = value.is_array() && !value.empty() && llvm::all_of(value, [&](auto &v) { return v == value.front(); });
  return isOne ? value.front() : value;
}

GgufConfig::GgufConfig(const GgufModel &model, const GgufArchitecture &architecture)
    : model(model), architecture(architecture) {
  if (ofArchitecture(latentKey))
    answerLatent();
  answerLayers();
  for (const GgufKey &row : ggufKeys())
    if (const json *value = ofArchitecture(std::string(row.key)); value && row.isFor(row.key, architecture))
      for (const std::string &key : row.answers)
        answer(key, forAllLayers(*value), fmt::format("key '{}.{}'", architecture.name, row.key));
  const json fixed = architecture.answers.empty() ? json::object() : json::parse(architecture.answers);
  for (auto &[key, value] : fixed.items())
    answer(key, value, "key 'general.architecture'");
  answerFromTensors();
  answerWindows();
  answerRope();
  answerAlibi();
  if (architecture.widerFrom > 0)
    answer("query_pre_attn_scalar",
           count("num_hidden_layers") >= architecture.widerFrom && count("num_attention_heads")
               ? count("hidden_size") / count("num_attention_heads")
               : headWidth(),
           fmt::format("key '{}.block_count'", architecture.name));
}

const json *GgufConfig::ofArchitecture(const std::string &key) const {
  return model.find(fmt::format("{}.{}", architecture.name, key));
}

void GgufConfig::answer(const std::string &key, json value, const std::string &source) {
  answers.emplace(key, std::move(value));
  sources.emplace(key, source);
}

// A number that is there and makes sense; else 0.
int64_t GgufConfig::count(const std::string &key) const {
  constexpr int64_t maxCount = 1 << 24;
  const json *value = find(key);
  bool good = value && value->is_number_integer() && *value >= 1 && *value <= maxCount;
  return good ? value->get<int64_t>() : 0;
}

int64_t GgufConfig::headWidth() const {
  int64_t width = count("head_dim"), heads = count("num_attention_heads");
  return width ? width : heads ? count("hidden_size") / heads : 0;
}

// Answers from the tensors: values that configurations have and GGUF lacks.
void GgufConfig::answerFromTensors() {
  auto has = [&](const char *name) { return model.tensor(name) != nullptr; };
  auto rowsOf = [&](const char *key, const char *name) {
    if (const GgufModel::Tensor *tensor = model.tensor(name); tensor && tensor->entry.shape.size() == 2)
      answer(key, tensor->entry.shape.front(), fmt::format("rows of tensor '{}'", name));
  };
  rowsOf("vocab_size", "token_embd.weight");
  rowsOf("type_vocab_size", "token_types.weight");
  answer("tie_word_embeddings", !has("output.weight"), "tensor 'output.weight'");
  const std::string biased = fmt::format("blk.0.{}.bias", architecture.biased);
  answer("attention_bias", has(biased.c_str()), fmt::format("tensor '{}'", biased));
  answer("attention_out_bias", has("blk.0.attn_output.bias"), "tensor 'blk.0.attn_output.bias'");
  answer("mlp_bias", has("blk.0.ffn_down.bias"), "tensor 'blk.0.ffn_down.bias'");
  answer("feed_forward_proj", has("enc.blk.0.ffn_gate.weight") ? "gated-gelu" : "relu",
         "tensor 'enc.blk.0.ffn_gate.weight'");
  for (const char *key : {"use_qkv_bias", "qkv_bias", "use_bias"})
    answer(key, has("blk.0.attn_q.bias"), "tensor 'blk.0.attn_q.bias'");
  for (const char *key : {"use_qk_norm", "qk_layernorm"})
    answer(key, has("blk.0.attn_q_norm.weight"), "tensor 'blk.0.attn_q_norm.weight'");
  answer("num_ln_in_parallel_attn", has("blk.0.attn_norm_2.weight") ? 2 : 1, "tensor 'blk.0.attn_norm_2.weight'");
  if (!architecture.classifier.empty() && has("cls.output.weight"))
    answerClasses();
  answer("model_type", std::string(architecture.modelType), "key 'general.architecture'");
  if (!architecture.head.empty())
    answer("architectures", json::array({std::string(architecture.head)}), "key 'general.architecture'");
}

// The head of RoBERTa's classifiers, which BERT's is as well: llama.cpp calls what pools the text "cls".
void GgufConfig::answerClasses() {
  const std::string tensor = "tensor 'cls.output.weight'";
  answer("architectures", json::array({std::string(architecture.classifier)}), tensor);
  const std::vector<int64_t> &shape = model.tensor("cls.output.weight")->entry.shape;
  answer("num_labels", shape.size() == 2 ? shape.front() : 1, tensor);
  const json *names = ofArchitecture("classifier.output_labels");
  if (!names || !names->is_array())
    return;
  json labels = json::object();
  for (size_t i = 0; i < names->size(); ++i)
    labels[std::to_string(i)] = (*names)[i];
  answer("id2label", std::move(labels), fmt::format("key '{}.classifier.output_labels'", architecture.name));
}

// Layers that predict further tokens are counted, and stand behind the others.
void GgufConfig::answerLayers() {
  const json *all = ofArchitecture("block_count"), *further = ofArchitecture("nextn_predict_layers");
  if (all && further && all->is_number_integer() && further->is_number_integer() && *further > 0 && *all > *further)
    answer("num_hidden_layers", all->get<int64_t>() - further->get<int64_t>(),
           fmt::format("key '{}.block_count'", architecture.name));
}

// Reads which layers have a window, if the file lists them.
void GgufConfig::answerWindows() {
  const std::string key = "attention.sliding_window_pattern";
  const json *pattern = ofArchitecture(key);
  if (!pattern || !pattern->is_array())
    return;
  json types = json::array();
  for (const json &slides : *pattern)
    types.push_back(slides == true ? "sliding_attention" : "full_attention");
  answer("layer_types", std::move(types), fmt::format("key '{}.{}'", architecture.name, key));
}

// Widths are those of heads with keys and values of their own; files that have the latents as keys and values say both.
void GgufConfig::answerLatent() {
  auto number = [&](const char *key) -> int64_t {
    const json *value = ofArchitecture(key);
    return value && value->is_number_integer() && *value >= 0 && *value < 1 << 24 ? value->get<int64_t>() : 0;
  };
  auto answerNumber = [&](const char *key, int64_t value, const char *from) {
    answer(key, value, fmt::format("key '{}.{}'", architecture.name, from));
  };
  auto widthOf = [&](const char *mla, const char *plain) { return ofArchitecture(mla) ? number(mla) : number(plain); };
  const char *rope = "rope.dimension_count", *keys = "attention.key_length", *groups = "expert_group_count";
  answerNumber("head_dim", number(rope), rope);
  answerNumber("qk_rope_head_dim", number(rope), rope);
  answerNumber("qk_nope_head_dim", widthOf("attention.key_length_mla", keys) - number(rope), keys);
  answerNumber("v_head_dim", widthOf("attention.value_length_mla", "attention.value_length"), "attention.value_length");
  const char *queries = "attention.q_lora_rank";
  if (!ofArchitecture(queries))
    answer("q_lora_rank", nullptr, fmt::format("key '{}.{}'", architecture.name, queries));
  for (const char *key : {"n_group", "topk_group"})
    if (!ofArchitecture(groups))
      answerNumber(key, 1, groups);
  constexpr int64_t sigmoid = 2;
  if (number("expert_gating_func") < sigmoid)
    answer("topk_method", number(groups) > 1 ? "group_limited_greedy" : "greedy", fmt::format("key '{}'", groups));
  answer("separate_kv_b", model.tensor("blk.0.attn_k_b.weight") != nullptr, "tensor 'blk.0.attn_k_b.weight'");
}

void GgufConfig::answerRope() {
  const std::string prefix = fmt::format("key '{}.rope.", architecture.name);
  const json *turned = ofArchitecture("rope.dimension_count");
  if (turned && forAllLayers(*turned).is_number_integer()) {
    auto width = static_cast<double>(headWidth()), part = forAllLayers(*turned).get<double>();
    // A little more than the share, so that their product is rounded down to the number.
    const double share = part == width ? 1.0 : std::nextafter(part / width, 2.0);
    for (const char *key : {"partial_rotary_factor", "rotary_pct"})
      if (width > 0)
        answer(key, share, prefix + "dimension_count'");
    answer("rotary_dim", forAllLayers(*turned), prefix + "dimension_count'");
  }
  // As llama.cpp reads them, a factor alone is that of linear scaling, and 0 none.
  static const json linear = "linear";
  const json *type = ofArchitecture("rope.scaling.type"), *factor = ofArchitecture("rope.scaling.factor");
  if (!type && factor && *factor != 0)
    type = &linear;
  if (!type || *type == "none")
    return;
  json scaling = architecture.scaling.empty() ? json::object() : json::parse(architecture.scaling);
  scaling["rope_type"] = *type;
  for (auto [name, key] : {std::pair("factor", "factor"),
                           {"original_context_length", "original_max_position_embeddings"},
                           {"yarn_beta_fast", "beta_fast"},
                           {"yarn_beta_slow", "beta_slow"}})
    if (const json *value = ofArchitecture(fmt::format("rope.scaling.{}", name)))
      scaling[key] = *value;
  const json *growth = ofArchitecture("rope.scaling.yarn_log_multiplier"),
             *heat = ofArchitecture("attention.temperature_scale");
  if (growth && growth->is_number() && ofArchitecture(latentKey))
    scaling["mscale"] = scaling["mscale_all_dim"] = 10 * growth->get<double>();
  else if (growth)
    scaling.update({{"mscale", 1}, {"mscale_all_dim", *growth}});
  if (heat)
    scaling["llama_4_scaling_beta"] = *heat;
  answer("rope_scaling", std::move(scaling), prefix + "scaling'");
}

// The attention settings of MPT: 0 stands for a model without the setting.
void GgufConfig::answerAlibi() {
  const json *bias = ofArchitecture("attention.max_alibi_bias"), *bound = ofArchitecture("attention.clamp_kqv");
  json inside = {{"alibi", bias && *bias != 0}};
  if (bias && *bias != 0)
    inside["alibi_bias_max"] = *bias;
  if (bound && *bound != 0)
    inside["clip_qkv"] = *bound;
  if (bias || bound)
    answer("attn_config", std::move(inside), fmt::format("key '{}.attention.max_alibi_bias'", architecture.name));
}

// Empty if they are not a reasonable number of F32, or cannot be read.
std::vector<float> GgufConfig::readFactors(const GgufModel::Tensor &tensor, Diagnostics &diagnostics) const {
  constexpr uint64_t mostBytes = 65536;
  std::vector<float> factors(std::min(tensor.entry.bytes, mostBytes) / sizeof(float));
  OpenFile file = model.directory().openFile(tensor.file, diagnostics);
  bool isRead = tensor.entry.type->name == "F32" && tensor.entry.bytes == factors.size() * sizeof(float) &&
                file.read(tensor.entry.offset, factors.data(), tensor.entry.bytes);
  return isRead ? factors : std::vector<float>();
}

// Factors of LongRoPE, and what belongs to them.
void GgufConfig::readLongFactors(Diagnostics &diagnostics) {
  json scaling = {{"rope_type", "longrope"}};
  for (auto [name, key] : {std::pair(longFactorsTensors[0], "long_factor"), {longFactorsTensors[1], "short_factor"}}) {
    const GgufModel::Tensor *tensor = model.tensor(name);
    if (!tensor)
      return;
    scaling[key] = json::array();
    for (float factor : readFactors(*tensor, diagnostics))
      scaling[key].push_back(json::parse(fmt::format("{}", factor), nullptr, /*allow_exceptions=*/false));
  }
  if (const json *amplitude = ofArchitecture("rope.scaling.attn_factor"))
    scaling["attention_factor"] = *amplitude;
  if (const json *original = ofArchitecture("rope.scaling.original_context_length"))
    answer("original_max_position_embeddings", *original,
           fmt::format("key '{}.rope.scaling.original_context_length'", architecture.name));
  answer("rope_scaling", std::move(scaling), fmt::format("tensor '{}'", longFactorsTensors[0]));
}

void GgufConfig::readRopeFactors(Diagnostics &diagnostics) {
  readLongFactors(diagnostics);
  const GgufModel::Tensor *tensor = model.tensor(ropeFactorsTensor);
  if (!tensor)
    return;
  std::vector<float> factors = readFactors(*tensor, diagnostics);
  const json *base = ofArchitecture("rope.freq_base");
  auto scaling =
      factors.empty() ? std::nullopt : llama3Scaling(factors, base && base->is_number() ? base->get<double>() : 10000);
  if (scaling && find("rope_scaling"))
    diagnostics.error(ImportError::ConfigUnsupported,
                      fmt::format("{}: tensor '{}' and {} both scale positions", tensor->file, ropeFactorsTensor,
                                  sources.at("rope_scaling")));
  else if (scaling)
    answer("rope_scaling", std::move(*scaling), fmt::format("tensor '{}'", ropeFactorsTensor));
  else
    diagnostics.error(ImportError::ConfigUnsupported,
                      fmt::format("{}: tensor '{}' does not hold the factors of Llama 3's scaling, the only ones that "
                                  "talc knows",
                                  tensor->file, ropeFactorsTensor));
}

const json *GgufConfig::find(const std::string &key) const {
  auto it = answers.find(key);
  return it == answers.end() ? nullptr : &it->second;
}

std::string GgufConfig::location(const std::string &key) const {
  auto it = sources.find(key.substr(0, key.find('.')));
  return fmt::format("{}: {}", model.file(), it == sources.end() ? fmt::format("key '{}'", key) : it->second);
}

void GgufConfig::check(Diagnostics &diagnostics) const {
  for (const GgufKey &row : ggufKeys())
    if (row.use == GgufKey::Use::Required && !ofArchitecture(std::string(row.key)))
      diagnostics.error(ImportError::ConfigValue,
                        fmt::format("{}: lacks the key '{}.{}'", model.file(), architecture.name, row.key));
  const std::string prefix = std::string(architecture.name) + ".";
  for (auto &[key, value] : model.metadata()) {
    if (key.compare(0, prefix.size(), prefix) != 0)
      continue;
    std::string_view name = std::string_view(key).substr(prefix.size());
    auto row = llvm::find_if(ggufKeys(), [&](const GgufKey &row) { return row.isFor(name, architecture); });
    bool isKnown = row != ggufKeys().end() &&
                   (row->use != GgufKey::Use::Nothing || row->neutral.is_null() || row->neutral == value);
    if (!isKnown)
      diagnostics.error(ImportError::ConfigUnsupported,
                        fmt::format("{}: key {} is {}, of which talc does not know what it changes", model.file(),
                                    quotedText(key), jsonText(value)));
  }
  checkCounts(diagnostics);
  const json *values = ofArchitecture("attention.value_length"), *keys = ofArchitecture("attention.key_length");
  if (!ofArchitecture(latentKey) && values && (keys ? *keys != *values : *values != headWidth()))
    diagnostics.error(ImportError::ConfigUnsupported,
                      fmt::format("{}: key '{}.attention.value_length' is {}, but keys have {} features", model.file(),
                                  architecture.name, jsonText(*values), headWidth()));
}

// Reports counts that no family reads and that are out of range.
void GgufConfig::checkCounts(Diagnostics &diagnostics) const {
  constexpr int64_t maxCount = 1 << 24;
  for (const char *key : {"rope.dimension_count", "attention.value_length", "expert_count", "expert_used_count"}) {
    const json *value = ofArchitecture(key);
    const json &one = value ? forAllLayers(*value) : json(0);
    if (one.is_number_integer() && one >= 0 && one <= maxCount)
      continue;
    diagnostics.error(ImportError::ConfigType,
                      fmt::format("{}: key '{}.{}' is {}, expected an integer from 0 to {}", model.file(),
                                  architecture.name, key, jsonText(*value), maxCount));
  }
}

}  // namespace talc
