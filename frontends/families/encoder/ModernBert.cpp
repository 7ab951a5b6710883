// SPDX-License-Identifier: Apache-2.0
// ModernBERT (arXiv 2412.13663): an encoder with rotary positions, layer norm before each part, gated feed-forward, and
// windows in two layers of three.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"

#include <cmath>

namespace talc {

namespace {

enum class Head { None, Masked, Text, Tokens };

struct ModernBert {
  explicit ModernBert(const ModelConfig &config);
  void readLayers(const ModelConfig &config);
  void readHead(const ModelConfig &config);
  void define(GraphBuilder &g) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;
  Tensor linear(GraphBuilder &g, Tensor x, Weight matrix, const std::string &name, bool bias, int64_t first,
                int64_t count) const;
  Tensor linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias) const;
  Tensor attention(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor feedForward(GraphBuilder &g, Tensor x) const;
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor transformed(GraphBuilder &g, Tensor x) const;

  Head head;
  int64_t vocabulary, width, inner, layers, heads, headWidth, positions;
  std::vector<int64_t> windows;  // per layer; 0: none
  std::vector<Rope> ropes;       // per layer
  Activation activation, headActivation;
  double epsilon;
  bool normBias, attentionBias, innerBias, headBias, decoderBias, tied;
  bool isMeanClassified = false;  // a text is classified by the mean of its tokens, else by the first one
  std::vector<std::string> labels;
};

}  // namespace

ModernBert::ModernBert(const ModelConfig &config) {
  vocabulary = config.integer("vocab_size", 50368, ModelConfig::size);
  width = config.integer("hidden_size", 768, ModelConfig::size);
  inner = config.integer("intermediate_size", 1152, ModelConfig::size);
  layers = config.integer("num_hidden_layers", 22, ModelConfig::layerCount);
  heads = config.integer("num_attention_heads", 12, ModelConfig::headCount);
  positions = config.integer("max_position_embeddings", 8192, ModelConfig::positionCount);
  activation = config.activation("hidden_activation", "gelu");
  epsilon = config.positive("norm_eps", 1e-5);
  normBias = config.flag("norm_bias", false);
  attentionBias = config.flag("attention_bias", false);
  innerBias = config.flag("mlp_bias", false);
  tied = config.flag("tie_word_embeddings", true);
  config.requireDivides("num_attention_heads", heads, "hidden_size", width);
  headWidth = width / heads;
  readHead(config);
  if (!config.failed())
    readLayers(config);
}

void ModernBert::readHead(const ModelConfig &config) {
  constexpr Head known[] = {Head::None, Head::Masked, Head::Text, Head::Tokens, Head::Tokens, Head::Text};
  constexpr size_t question = 4, choice = 5;
  const size_t number = config.head({"Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification",
                                     "ForQuestionAnswering", "ForMultipleChoice"});
  head = known[number];
  headActivation = config.activation("classifier_activation", "gelu");
  headBias = config.flag("classifier_bias", false);
  decoderBias = config.flag("decoder_bias", true);
  config.passOver({"classifier_pooling", "layer_norm_eps", "position_embedding_type"});  // of BERT, in all files
  if (head == Head::Text) {
    const std::string pooling = config.text("classifier_pooling", "cls");
    isMeanClassified = pooling == "mean";
    if (!isMeanClassified && pooling != "cls")
      config.unsupported("classifier_pooling", "is neither cls nor mean");
  }
  if (number == question)
    labels = {"start", "end"};
  else if (number == choice)
    labels = {"choice"};
  else if (head == Head::Text || head == Head::Tokens)
    labels = config.labels();
}

// Every third layer sees everything and turns by a base of its own.
void ModernBert::readLayers(const ModelConfig &config) {
  int64_t every = config.integer("global_attn_every_n_layers", 3, ModelConfig::layerCount);
  int64_t window = config.integer("local_attention", 128, ModelConfig::positionCount);
  if (config.has("sliding_window"))  // half of it
    window = 2 * config.integer("sliding_window", window / 2, {0, ModelConfig::positionCount.maximum / 2});
  std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty() && static_cast<int64_t>(types.size()) != layers)
    return config.invalid("layer_types", "has " + std::to_string(types.size()) + " entries for " +
                                             std::to_string(layers) + " layers (num_hidden_layers)");
  RopeKeys global, local;
  config.passOver({"global_rope_theta", "local_rope_theta"});  // of layers that a model may lack
  global.theta = 160000;
  global.thetaKey = "global_rope_theta";
  local.thetaKey = "local_rope_theta";
  if (auto scaling = config.inner("rope_scaling"); scaling && !scaling->has("rope_type"))
    return scaling->invalid("rope_type", "is missing");
  if (config.isNull("local_rope_theta"))
    local = global;
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool full = types.empty() ? layer % every == 0 : types[layer] == "full_attention";
    if (!types.empty() && !full && types[layer] != "sliding_attention")
      return config.unsupported("layer_types", "talc knows full_attention and sliding_attention");
    windows.push_back(full ? 0 : window / 2 + 1);
    ropes.push_back(full ? config.rope(headWidth, "full_attention", global)
                         : config.rope(headWidth, "sliding_attention", local));
  }
}

Tensor ModernBert::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  Weight scale = g.weight(name + ".weight", {width});
  return g.layerNorm(x, scale, normBias ? g.weight(name + ".bias", {width}) : Weight(), epsilon);
}

Tensor ModernBert::linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias) const {
  Weight matrix = g.weight(name + ".weight", {outputs, x.width()}, "outputs by inputs");
  return g.linear(x, matrix, bias ? g.weight(name + ".bias", {outputs}) : Weight());
}

// Rows [first, first + count) of a projection.
Tensor ModernBert::linear(GraphBuilder &g, Tensor x, Weight matrix, const std::string &name, bool bias, int64_t first,
                          int64_t count) const {
  int64_t all = matrix ? g.rowCount(matrix) : 0;
  Weight added = bias ? g.rows(g.weight(name + ".bias", {all}), first, count, all) : Weight();
  return g.linear(x, g.rows(matrix, first, count, all), added);
}

Tensor ModernBert::attention(GraphBuilder &g, Tensor x, int64_t number) const {
  Weight all = g.weight("attn.Wqkv.weight", {3 * width, width}, "queries, keys and values by hidden_size");
  auto part = [&](int64_t i) { return linear(g, x, all, "attn.Wqkv", attentionBias, i * width, width); };
  Tensor queries = g.rope(part(0), heads, ropes[number]), keys = g.rope(part(1), heads, ropes[number]);
  double scale = 1 / std::sqrt(static_cast<double>(headWidth));
  Tensor mixed = g.attention(queries, keys, part(2), {heads, heads, scale, Mask::Full, windows[number]});
  return linear(g, mixed, "attn.Wo", width, attentionBias);
}

// The first half passes the activation.
Tensor ModernBert::feedForward(GraphBuilder &g, Tensor x) const {
  Weight both = g.weight("mlp.Wi.weight", {2 * inner, width}, "2 * intermediate_size by hidden_size");
  Tensor gate = g.activation(linear(g, x, both, "mlp.Wi", innerBias, 0, inner), activation);
  return linear(g, g.mul(gate, linear(g, x, both, "mlp.Wi", innerBias, inner, inner)), "mlp.Wo", width, innerBias);
}

// The embedding was normalized: the first layer does not do it again.
Tensor ModernBert::layer(GraphBuilder &g, Tensor x, int64_t number) const {
  x = g.add(x, attention(g, number == 0 ? x : norm(g, x, "attn_norm"), number));
  return g.add(x, feedForward(g, norm(g, x, "mlp_norm")));
}

Tensor ModernBert::transformed(GraphBuilder &g, Tensor x) const {
  return norm(g, g.activation(linear(g, x, "head.dense", width, headBias), headActivation), "head.norm");
}

void ModernBert::define(GraphBuilder &g) const {
  g.positions(positions, /*hard=*/false);
  const std::string name = "model.embeddings.tok_embeddings.weight";
  Weight table, projection;
  if (head == Head::Masked)
    std::tie(table, projection) = g.tiedWeights(name, "decoder.weight", {vocabulary, width}, tied);
  else
    table = g.weight(name, {vocabulary, width}, "vocab_size by hidden_size");
  Tensor x = norm(g, g.embedding(table), "model.embeddings.norm");
  x = g.repeat("model.layers", layers, x, [&](Tensor x, int64_t number) { return layer(g, x, number); });
  x = norm(g, x, "model.final_norm");
  auto classes = static_cast<int64_t>(labels.size());
  if (head == Head::Masked)
    g.output(g.linear(transformed(g, g.select(x)), projection,
                      decoderBias ? g.weight("decoder.bias", {vocabulary}) : Weight()));
  if (head == Head::Text || head == Head::Tokens) {
    Tensor pooled = g.select(isMeanClassified ? g.mean(x, heads) : x);
    g.output(g.linear(transformed(g, pooled), "classifier", classes),
             head == Head::Text ? Output::Classes : Output::TokenClasses);
  }
  g.output(g.select(x, head == Head::None ? 0 : 1), Output::Hidden);
  g.labels(labels);
}

void defineModernBert(GraphBuilder &g, const ModelConfig &config) {
  ModernBert model(config);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
