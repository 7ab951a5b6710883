// SPDX-License-Identifier: Apache-2.0
// Reads a configuration with Llama's keys and writes Llama's layers.
#include "frontends/families/LlamaModel.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace talc {

//===--- configuration ------------------------------------------------------------------------------------------===//

LlamaModel::LlamaModel(const ModelConfig &config, const LlamaDefaults &defaults) : defaults(defaults) {
  config.head({"ForCausalLM", "Model"});
  vocabulary = config.integer("vocab_size", defaults.vocabulary, ModelConfig::size);
  width = config.integer("hidden_size", defaults.width, ModelConfig::size);
  inner = config.integer("intermediate_size", defaults.inner, ModelConfig::size);
  layers = config.integer("num_hidden_layers", defaults.layers, ModelConfig::layerCount);
  positions = config.integer("max_position_embeddings", defaults.positions, ModelConfig::positionCount);
  activation = config.has(defaults.activationKey) ? config.activation(defaults.activationKey, defaults.activation)
                                                  : config.activationNamed(defaults.activationKey, defaults.activation);
  epsilon = config.positive(defaults.epsilonKey, defaults.epsilon);
  tied = config.flag("tie_word_embeddings", defaults.tied);
  readHeads(config);
  readInfini(config);
}

void LlamaModel::readHeads(const ModelConfig &config) {
  heads = config.integer("num_attention_heads", defaults.heads, ModelConfig::headCount);
  keyValueHeads =
      config.integerOrNull("num_key_value_heads", defaults.keyValueHeads, ModelConfig::headCount).value_or(heads);
  headWidth = width / heads;
  if (defaults.ownHeadWidth)
    headWidth = config.integerOrNull("head_dim", defaults.headWidth, ModelConfig::headCount).value_or(headWidth);
  if (!defaults.ownHeadWidth || (!config.has("head_dim") && !defaults.headWidth))
    config.requireDivides("num_attention_heads", heads, "hidden_size", width);
  if (heads % keyValueHeads != 0)
    config.invalid("num_key_value_heads", std::to_string(keyValueHeads) + " key-value heads do not divide " +
                                              std::to_string(heads) + " attention heads");
  scale = 1 / std::sqrt(static_cast<double>(headWidth));
}

void LlamaModel::readInfini(const ModelConfig &config) {
  const char *key = "infini_attention";
  bool isOff = config.isFlag(key) && !config.flag(key, true);
  std::optional<ModelConfig> options = config.has(key) && !isOff ? config.inner(key) : std::nullopt;
  if (!options)
    return;
  if (!options->has("segment_length"))
    return options->invalid("segment_length", "is missing: the tokens of a segment");
  options->refuseOthers({"segment_length", "update", "first_segment"});
  auto choose = [&](const char *name, const char *usual, const char *other) {
    std::string text = options->text(name, usual);
    if (text != usual && text != other)
      options->unsupported(name, std::string("talc knows ") + usual + " and " + other);
    return text == other;
  };
  infini = Infini{options->integer("segment_length", 1, ModelConfig::positionCount),
                  choose("update", "linear", "delta"), choose("first_segment", "gated", "local")};
}

void LlamaModel::readBiases(const ModelConfig &config, bool attention, bool inner) {
  if (attention)
    inputBias = outputBias = config.flag("attention_bias", false);
  else
    config.refuseFlag("attention_bias", "the family has none");
  if (inner)
    innerBias = config.flag("mlp_bias", false);
  else
    config.refuseFlag("mlp_bias", "the family has none");
}

void LlamaModel::readWindows(const ModelConfig &config, std::optional<int64_t> window,
                             const std::function<bool(int64_t layer)> &slides) {
  std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty() && static_cast<int64_t>(types.size()) != layers)
    return config.invalid("layer_types", "has " + std::to_string(types.size()) + " entries for " +
                                             std::to_string(layers) + " layers (num_hidden_layers)");
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool sliding = types.empty() ? window && slides(layer) : types[layer] == "sliding_attention";
    if (!types.empty() && !sliding && types[layer] != "full_attention")
      return config.unsupported("layer_types", "talc knows full_attention and sliding_attention");
    if (sliding && !window)
      return config.invalid("layer_types", "has sliding_attention, but the configuration gives no window");
    windows.push_back(sliding ? *window : 0);
  }
}

void LlamaModel::readRopes(const ModelConfig &config) {
  for (int64_t window : windows)
    if (!config.failed())
      ropes.push_back(config.rope(headWidth, window ? "sliding_attention" : "full_attention", defaults.rope));
}

//===--- graph --------------------------------------------------------------------------------------------------===//

Tensor LlamaModel::linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias,
                          const std::string &why) const {
  Weight matrix = g.weight(name + ".weight", {outputs, x.width()}, why);
  return g.linear(x, matrix, bias ? g.weight(name + ".bias", {outputs}, why) : Weight());
}

Tensor LlamaModel::project(GraphBuilder &g, Tensor x, Heads heads) const {
  return linear(g, x, std::string("self_attn.") + heads.name + "_proj", heads.count * headWidth, inputBias,
                std::to_string(heads.count) + " heads of " + std::to_string(headWidth));
}

Tensor LlamaModel::normHeads(GraphBuilder &g, Tensor x, Heads heads) const {
  if (!headNorms)
    return x;
  return g.rmsNorm(x, g.weight(std::string("self_attn.") + heads.name + "_norm.weight", {headWidth}), epsilon,
                   heads.count);
}

Tensor LlamaModel::rotated(GraphBuilder &g, Tensor x, Heads heads, int64_t number) const {
  return ropes[number] ? g.rope(x, heads.count, *ropes[number]) : x;
}

Tensor LlamaModel::attention(GraphBuilder &g, Tensor x, int64_t number) const {
  Tensor q = heading(g, x, queries()), turnedQ = rotated(g, q, queries(), number);
  Tensor k = heading(g, x, keys()), turnedK = rotated(g, k, keys(), number), v = project(g, x, values());
  Attention kind = {heads, keyValueHeads, scale, mask, windows[number]};
  kind.cap = cap;
  kind.sinks = sinks(g);
  Tensor mixed = g.cachedAttention(turnedQ, turnedK, v, kind);
  if (infini) {
    Weight gates = g.weight("self_attn.infini_beta", {heads}, "a gate for each head");
    mixed = g.segmentMemory(mixed, q, k, v, {heads, keyValueHeads, gates, infini->delta, infini->localFirst});
  }
  return linear(g, mixed, defaults.output, width, outputBias, "hidden_size by heads");
}

Tensor LlamaModel::feedForward(GraphBuilder &g, Tensor x) const {
  const char *why = "hidden_size, intermediate_size";
  Tensor gate = g.activation(linear(g, x, "mlp.gate_proj", inner, innerBias, why), activation);
  Tensor up = linear(g, x, "mlp.up_proj", inner, innerBias, why);
  return linear(g, g.mul(gate, up), "mlp.down_proj", width, innerBias, why);
}

Tensor LlamaModel::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  return g.rmsNorm(x, g.weight(name + ".weight", {width}, "hidden_size"), epsilon);
}

Tensor LlamaModel::layer(GraphBuilder &g, Tensor x, int64_t number) const {
  x = g.add(x, attention(g, norm(g, x, "input_layernorm"), number));
  return g.add(x, feedForward(g, norm(g, x, "post_attention_layernorm")));
}

// A model with other factors for longer texts is compiled for texts that do not need them, unless it is asked for more;
// one whose base grows with the text, for as many as that serves.
static int64_t usualLength(const std::optional<Rope> &rope) {
  if (auto *listed = rope ? std::get_if<LongScaling>(&rope->scaling) : nullptr)
    return listed->original;
  auto *dynamic = rope ? std::get_if<DynamicScaling>(&rope->scaling) : nullptr;
  return dynamic ? static_cast<int64_t>(dynamic->factor * static_cast<double>(dynamic->original)) : 0;
}

// Only distances count, if frequencies do not follow from the length of a text.
static bool isRelative(const std::optional<Rope> &rope) {
  return !rope ||
         !(std::holds_alternative<LongScaling>(rope->scaling) || std::holds_alternative<DynamicScaling>(rope->scaling));
}

void LlamaModel::define(GraphBuilder &g) const {
  int64_t usual = usualLength(ropes.front());
  bool endless = std::all_of(windows.begin(), windows.end(), [](int64_t window) { return window > 0; }) &&
                 std::all_of(ropes.begin(), ropes.end(), isRelative);
  if (infini)
    g.segments(infini->segment);
  else
    g.positions(std::max(positions, usual), /*hard=*/false, usual, endless);
  const std::string tableName = "model.embed_tokens.weight";
  Weight table, head;
  if (g.isEmbedder())
    table = g.weight(tableName, {vocabulary, width}, "vocab_size by hidden_size");
  else
    std::tie(table, head) = g.tiedWeights(tableName, "lm_head.weight", {vocabulary, width}, tied);
  Tensor x = embed(g, table);
  x = g.repeat("model.layers", layers, x, [&](Tensor x, int64_t number) { return layer(g, x, number); });
  x = norm(g, g.select(x), defaults.lastNorm);
  g.isEmbedder() ? g.output(x, Output::Hidden) : g.output(logits(g, x, head));
}

}  // namespace talc
