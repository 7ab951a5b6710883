// SPDX-License-Identifier: Apache-2.0
// Llama (arXiv 2302.13971, 2407.21783) and its variants Mistral (arXiv 2310.06825), Qwen2 (arXiv 2407.10671) and Qwen3
// (arXiv 2505.09388): rotary positions, RMS norms, grouped key-value heads, gated feed-forward.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"

#include <cmath>

namespace talc {

namespace {

// Of the projections in attention. FromConfig: q, k, v and o have one if attention_bias is true.
enum class Biases { None, QueryKeyValue, FromConfig };
// Which layers attend to a sliding window. LaterLayers: those from max_window_layers on, if use_sliding_window is true.
enum class Window { None, Everywhere, LaterLayers };

// What tells the variants apart.
struct Variant {
  int64_t vocabulary, inner, positions;       // default values of the configuration
  std::optional<int64_t> keyValueHeads = {};  // the same; none: as many as heads
  std::optional<int64_t> headWidth = {};      // the same; none: hidden_size / num_attention_heads
  Biases biases = Biases::None;
  Window window = Window::None;
  bool innerBias = false;  // mlp_bias may be true
  bool headNorms = false;  // queries and keys are normalized head by head
};

struct Llama {
  Llama(const ModelConfig &config, const Variant &variant);
  void readHeads(const ModelConfig &config, const Variant &variant);
  void readBiases(const ModelConfig &config, const Variant &variant);
  void readWindows(const ModelConfig &config, const Variant &variant);
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor attention(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor feedForward(GraphBuilder &g, Tensor x) const;
  Tensor linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias,
                const std::string &why) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;
  Tensor heading(GraphBuilder &g, Tensor x, const std::string &name, int64_t count, const Rope &rope) const;

  int64_t vocabulary, width, inner, layers, positions;
  int64_t heads, keyValueHeads, headWidth;
  std::vector<int64_t> windows;  // per layer; 0: none
  std::vector<Rope> ropes;       // per layer
  Activation activation;
  double epsilon;
  bool inputBias, outputBias, innerBias, headNorms, tied;
};

}  // namespace

Llama::Llama(const ModelConfig &config, const Variant &variant) {
  config.head({"ForCausalLM", "Model"});
  vocabulary = config.integer("vocab_size", variant.vocabulary, ModelConfig::size);
  width = config.integer("hidden_size", 4096, ModelConfig::size);
  inner = config.integer("intermediate_size", variant.inner, ModelConfig::size);
  layers = config.integer("num_hidden_layers", 32, ModelConfig::layerCount);
  positions = config.integer("max_position_embeddings", variant.positions, ModelConfig::positionCount);
  activation = config.activation("hidden_act", "silu");
  epsilon = config.positive("rms_norm_eps", 1e-6);
  tied = config.flag("tie_word_embeddings", false);
  readHeads(config, variant);
  readBiases(config, variant);
  if (config.failed())
    return;
  readWindows(config, variant);
  for (int64_t window : windows)
    ropes.push_back(config.rope(headWidth, window ? "sliding_attention" : "full_attention", 10000));
}

void Llama::readHeads(const ModelConfig &config, const Variant &variant) {
  heads = config.integer("num_attention_heads", 32, ModelConfig::headCount);
  keyValueHeads =
      config.integerOrNull("num_key_value_heads", variant.keyValueHeads, ModelConfig::headCount).value_or(heads);
  headWidth = config.integerOrNull("head_dim", variant.headWidth, ModelConfig::headCount).value_or(width / heads);
  if (!config.has("head_dim") && !variant.headWidth)
    config.requireDivides("num_attention_heads", heads, "hidden_size", width);
  if (heads % keyValueHeads != 0)
    config.invalid("num_key_value_heads", std::to_string(keyValueHeads) + " key-value heads do not divide " +
                                              std::to_string(heads) + " attention heads");
}

void Llama::readBiases(const ModelConfig &config, const Variant &variant) {
  headNorms = variant.headNorms;
  bool attentionBias = variant.biases == Biases::FromConfig && config.flag("attention_bias", false);
  inputBias = attentionBias || variant.biases == Biases::QueryKeyValue;
  outputBias = attentionBias;
  innerBias = variant.innerBias && config.flag("mlp_bias", false);
  if (variant.biases == Biases::None)
    config.refuseFlag("attention_bias", "the family has none");
  if (!variant.innerBias)
    config.refuseFlag("mlp_bias", "the family has none");
}

// layer_types decides which layers have a window; without it the rule of the family.
void Llama::readWindows(const ModelConfig &config, const Variant &variant) {
  std::optional<int64_t> window;
  int64_t firstWithWindow = 0;
  if (variant.window == Window::Everywhere)
    window = config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount);
  if (variant.window == Window::LaterLayers && config.flag("use_sliding_window", false)) {
    window = config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount);
    firstWithWindow = config.integer("max_window_layers", 28, {0, ModelConfig::layerCount.most});
  }
  std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty() && static_cast<int64_t>(types.size()) != layers)
    return config.invalid("layer_types", "has " + std::to_string(types.size()) + " entries for " +
                                             std::to_string(layers) + " layers (num_hidden_layers)");
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool sliding = types.empty() ? window && layer >= firstWithWindow : types[layer] == "sliding_attention";
    if (!types.empty() && !sliding && types[layer] != "full_attention")
      return config.unsupported("layer_types", "talc knows full_attention and sliding_attention");
    if (sliding && !window)
      return config.invalid("layer_types", "has sliding_attention, but the configuration gives no window");
    windows.push_back(sliding ? *window : 0);
  }
}

// Queries or keys: projected, normalized head by head, and turned.
Tensor Llama::heading(GraphBuilder &g, Tensor x, const std::string &name, int64_t count, const Rope &rope) const {
  Tensor y = linear(g, x, "self_attn." + name + "_proj", count * headWidth, inputBias,
                    std::to_string(count) + " heads of " + std::to_string(headWidth));
  if (headNorms)
    y = g.rmsNorm(y, g.weight("self_attn." + name + "_norm.weight", {headWidth}), epsilon, count);
  return g.rope(y, count, rope);
}

Tensor Llama::linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias,
                     const std::string &why) const {
  Weight matrix = g.weight(name + ".weight", {outputs, x.width()}, why);
  return g.linear(x, matrix, bias ? g.weight(name + ".bias", {outputs}, why) : Weight());
}

Tensor Llama::attention(GraphBuilder &g, Tensor x, int64_t number) const {
  Tensor queries = heading(g, x, "q", heads, ropes[number]);
  Tensor keys = heading(g, x, "k", keyValueHeads, ropes[number]);
  Tensor values = linear(g, x, "self_attn.v_proj", keyValueHeads * headWidth, inputBias,
                         std::to_string(keyValueHeads) + " heads of " + std::to_string(headWidth));
  double scale = 1 / std::sqrt(static_cast<double>(headWidth));
  Tensor mixed = g.cachedAttention(queries, keys, values, {heads, keyValueHeads, scale, Mask::Causal, windows[number]});
  return linear(g, mixed, "self_attn.o_proj", width, outputBias, "hidden_size by heads");
}

Tensor Llama::feedForward(GraphBuilder &g, Tensor x) const {
  const char *why = "hidden_size, intermediate_size";
  Tensor gate = g.activation(linear(g, x, "mlp.gate_proj", inner, innerBias, why), activation);
  Tensor up = linear(g, x, "mlp.up_proj", inner, innerBias, why);
  return linear(g, g.mul(gate, up), "mlp.down_proj", width, innerBias, why);
}

Tensor Llama::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  return g.rmsNorm(x, g.weight(name + ".weight", {width}, "hidden_size"), epsilon);
}

Tensor Llama::layer(GraphBuilder &g, Tensor x, int64_t number) const {
  x = g.add(x, attention(g, norm(g, x, "input_layernorm"), number));
  return g.add(x, feedForward(g, norm(g, x, "post_attention_layernorm")));
}

static void define(GraphBuilder &g, const ModelConfig &config, const Variant &variant) {
  Llama model(config, variant);
  if (config.failed())
    return;
  g.positions(model.positions, /*hard=*/false);
  auto [table, head] =
      g.tiedWeights("model.embed_tokens.weight", "lm_head.weight", {model.vocabulary, model.width}, model.tied);
  Tensor x = g.embedding(table);
  x = g.repeat("model.layers", model.layers, x, [&](Tensor x, int64_t number) { return model.layer(g, x, number); });
  x = model.norm(g, g.select(x), "model.norm");
  g.output(g.linear(x, head));
}

void defineLlama(GraphBuilder &g, const ModelConfig &config) {
  Variant variant{32000, 11008, 2048};
  variant.biases = Biases::FromConfig;
  variant.innerBias = true;
  define(g, config, variant);
}

void defineMistral(GraphBuilder &g, const ModelConfig &config) {
  Variant variant{32000, 14336, 131072};
  variant.keyValueHeads = 8;
  variant.window = Window::Everywhere;
  define(g, config, variant);
}

void defineQwen2(GraphBuilder &g, const ModelConfig &config) {
  Variant variant{151936, 22016, 32768};
  variant.keyValueHeads = 32;
  variant.biases = Biases::QueryKeyValue;
  variant.window = Window::LaterLayers;
  config.refuseFlag("use_mrope", "talc knows one-dimensional rotary positions");
  define(g, config, variant);
}

void defineQwen3(GraphBuilder &g, const ModelConfig &config) {
  Variant variant{151936, 22016, 32768};
  variant.keyValueHeads = 32;
  variant.headWidth = 128;
  variant.biases = Biases::FromConfig;
  variant.window = Window::LaterLayers;
  variant.headNorms = true;
  define(g, config, variant);
}

}  // namespace talc
