// SPDX-License-Identifier: Apache-2.0
// T5 (arXiv 1910.10683), T5 1.1, Flan-T5 (arXiv 2210.11416), mT5 (arXiv 2010.11934) and UMT5 (arXiv 2304.09151): an
// encoder-decoder whose attention has a bias by distance instead of positions, RMS norm before each part, no biases at
// projections.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"
#include "frontends/families/decoder/TokenRows.h"

#include <cmath>
#include <functional>

namespace talc {

namespace {

// Default values of the configuration.
struct Variant {
  int64_t vocabulary, inner, layers, heads;
  const char *feedForward;
  bool scales;                  // the output of a decoder with tied tables, in version 5 of transformers
  bool hasLayerTables = false;  // every layer has a table of distances; else the first layer's serves all
  bool isLocal = false;         // tokens of the encoder see a window
};

// What a model makes of hidden states: words, nothing (of the encoder's), classes of the text or of its tokens. The
// class of the text and answers to questions are made of the decoder's.
enum class Task { Words, Hidden, Text, Tokens, Question };

struct T5 {
  T5(const ModelConfig &config, const Variant &variant);
  void readTask(const ModelConfig &config);
  void readTying(const ModelConfig &config, bool scales);
  void readFeedForward(const ModelConfig &config, const std::string &fallback);
  void readBuckets(const ModelConfig &config);
  void readWindow(const ModelConfig &config);
  Weight distanceBias(GraphBuilder &g, const std::string &layer, bool bidirectional) const;
  // The module of self-attention.
  std::string attentionPlace(bool bidirectional) const {
    return bidirectional && window > 0 ? "layer.0.LocalSelfAttention." : "layer.0.SelfAttention.";
  }
  Tensor stack(GraphBuilder &g, const std::string &name, int64_t count, Tensor x, bool bidirectional,
               const std::function<Tensor(Tensor x, Weight bias)> &body) const;
  Tensor encode(GraphBuilder &g, Weight table) const;
  // Without `memory` the source is in KV caches.
  Tensor decode(GraphBuilder &g, Tensor x, Tensor memory) const;
  void define(GraphBuilder &g) const;
  void defineWords(GraphBuilder &g, const std::string &tableName) const;
  void defineClasses(GraphBuilder &g, Weight table) const;
  GraphBuilder::Shape tableShape() const { return {vocabulary, width}; }
  void keepSource(GraphBuilder &g, Tensor memory) const;
  KvCache source(GraphBuilder &g) const { return g.sourceKvCache("source", heads, headWidth); }
  Tensor selfAttention(GraphBuilder &g, Tensor x, Mask mask, Weight bias) const;
  Tensor crossAttention(GraphBuilder &g, Tensor x, Tensor memory) const;
  Tensor feedForward(GraphBuilder &g, Tensor x, const std::string &place) const;
  Tensor heading(GraphBuilder &g, Tensor x, const std::string &name) const;
  Tensor linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;

  int64_t vocabulary, positions, width, inner, encoderLayers, decoderLayers;
  int64_t heads, headWidth, buckets, maxDistance, window = 0;
  Activation activation;
  double epsilon;
  Task task;
  std::vector<std::string> labels;
  int64_t startToken = 0, endToken = 1;  // of classes
  bool gated, tied, scaled, hasLayerTables;
};

}  // namespace

T5::T5(const ModelConfig &config, const Variant &variant) {
  vocabulary = config.integer("vocab_size", variant.vocabulary, ModelConfig::size);
  readTask(config);
  positions = config.integer("n_positions", 512, ModelConfig::positionCount);
  width = config.integer("d_model", 512, ModelConfig::size);
  inner = config.integer("d_ff", variant.inner, ModelConfig::size);
  encoderLayers = config.integer("num_layers", variant.layers, ModelConfig::layerCount);
  decoderLayers =
      config.integerOrNull("num_decoder_layers", encoderLayers, ModelConfig::layerCount).value_or(encoderLayers);
  heads = config.integer("num_heads", variant.heads, ModelConfig::headCount);
  headWidth = config.integer("d_kv", 64, ModelConfig::headCount);
  epsilon = config.positive("layer_norm_epsilon", 1e-6);
  hasLayerTables = variant.hasLayerTables;
  readTying(config, variant.scales);
  readFeedForward(config, variant.feedForward);
  readBuckets(config);
  if (variant.isLocal)
    readWindow(config);
}

void T5::readTask(const ModelConfig &config) {
  constexpr Task tasks[] = {Task::Words, Task::Words, Task::Hidden, Task::Text, Task::Tokens, Task::Question};
  task = tasks[config.head({"ForConditionalGeneration", "WithLMHeadModel", "EncoderModel", "ForSequenceClassification",
                            "ForTokenClassification", "ForQuestionAnswering"})];
  if (task == Task::Text || task == Task::Tokens)
    labels = config.labels();
  if (task == Task::Question)
    labels = {"start", "end"};
  if (task != Task::Text && task != Task::Question)
    return;
  startToken = config.startToken(0);
  endToken = config.endToken(1);
  if (startToken >= vocabulary)
    config.invalid("vocab_size", "has no token that begins the text of the decoder");
}

// Version 5 of transformers ties the tables of all models, whatever the key says, and reads from it whether T5 scales
// outputs; before, mT5 scaled them, too.
void T5::readTying(const ModelConfig &config, bool scales) {
  const std::string version = config.text("transformers_version", "5");
  bool isOld = version[0] >= '0' && version[0] < '5' && version.find('.') == 1;
  tied = config.flag("tie_word_embeddings", scales || !isOld);
  scaled = config.flag("scale_decoder_outputs", tied && (scales || isOld));
}

// "[gated-]activation"; the gelu of "gated-gelu" is the one with tanh.
void T5::readFeedForward(const ModelConfig &config, const std::string &fallback) {
  const char *key = "feed_forward_proj";
  const std::string prefix = "gated-";
  std::string kind = config.text(key, fallback);
  gated = kind.compare(0, prefix.size(), prefix) == 0;
  if (gated)
    kind = kind == "gated-gelu" ? "gelu_new" : kind.substr(prefix.size());
  gated = config.flag("is_gated_act", gated);
  activation = config.has("dense_act_fn") ? config.activation("dense_act_fn", kind) : config.activationNamed(key, kind);
}

void T5::readBuckets(const ModelConfig &config) {
  const char *key = "relative_attention_num_buckets";
  buckets = config.integer(key, 32, {4, 1 << 20});
  maxDistance = config.integer("relative_attention_max_distance", 128, ModelConfig::positionCount);
  if (buckets % 4 != 0)
    config.unsupported(key, "is " + std::to_string(buckets) + ", expected a multiple of 4");
  if (maxDistance <= buckets / 2)
    config.invalid("relative_attention_max_distance", "is " + std::to_string(maxDistance) +
                                                          ", expected more than half of " + key + " = " +
                                                          std::to_string(buckets));
}

void T5::readWindow(const ModelConfig &config) {
  window = config.integer("local_radius", 127, ModelConfig::positionCount) + 1;
  if (config.text("encoder_attention_type", "local") != "local")
    config.unsupported("encoder_attention_type", "is not 'local': talc knows windows, without global tokens");
  config.passOver({"global_block_size"});
}

Tensor T5::linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs) const {
  return g.linear(x, g.weight(name + ".weight", {outputs, x.width()}));
}

Tensor T5::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  return g.rmsNorm(x, g.weight(name + ".weight", {width}, "d_model"), epsilon);
}

// Queries, keys or values.
Tensor T5::heading(GraphBuilder &g, Tensor x, const std::string &name) const {
  Weight matrix = g.weight(name + ".weight", {heads * headWidth, width}, "num_heads times d_kv, d_model");
  return g.linear(x, matrix);
}

Weight T5::distanceBias(GraphBuilder &g, const std::string &layer, bool bidirectional) const {
  const std::string name = layer + attentionPlace(bidirectional) + "relative_attention_bias.weight";
  return g.relativeBias(g.weight(name, {buckets, heads}, "buckets by heads"), bidirectional, maxDistance);
}

// The layers of the encoder or the decoder; `body` takes the bias by distance.
Tensor T5::stack(GraphBuilder &g, const std::string &name, int64_t count, Tensor x, bool bidirectional,
                 const std::function<Tensor(Tensor x, Weight bias)> &body) const {
  Weight common = hasLayerTables ? Weight() : distanceBias(g, name + ".block.0.", bidirectional);
  x = g.repeat(name + ".block", count, x, [&](Tensor x, int64_t) {
    return body(x, hasLayerTables ? distanceBias(g, "", bidirectional) : common);
  });
  return x;
}

// The factor 1/sqrt(d) is part of the weights.
Tensor T5::selfAttention(GraphBuilder &g, Tensor x, Mask mask, Weight bias) const {
  const std::string place = attentionPlace(mask == Mask::Full);
  Tensor h = norm(g, x, "layer.0.layer_norm");
  Tensor queries = heading(g, h, place + "q"), keys = heading(g, h, place + "k"), values = heading(g, h, place + "v");
  const Attention kind = {heads, heads, 1, mask, mask == Mask::Full ? window : 0, bias};
  Tensor mixed =
      mask == Mask::Full ? g.attention(queries, keys, values, kind) : g.cachedAttention(queries, keys, values, kind);
  return g.add(x, linear(g, mixed, place + "o", width));
}

Tensor T5::crossAttention(GraphBuilder &g, Tensor x, Tensor memory) const {
  const std::string place = "layer.1.EncDecAttention.";
  Tensor queries = heading(g, norm(g, x, "layer.1.layer_norm"), place + "q");
  const Attention kind = {heads, heads, 1, Mask::Full};
  Tensor mixed = memory ? g.attention(queries, heading(g, memory, place + "k"), heading(g, memory, place + "v"), kind)
                        : g.crossAttention(queries, source(g), kind);
  return g.add(x, linear(g, mixed, place + "o", width));
}

Tensor T5::feedForward(GraphBuilder &g, Tensor x, const std::string &place) const {
  Tensor h = norm(g, x, place + ".layer_norm");
  const std::string dense = place + ".DenseReluDense.";
  Tensor hidden = g.activation(linear(g, h, dense + (gated ? "wi_0" : "wi"), inner), activation);
  if (gated)
    hidden = g.mul(hidden, linear(g, h, dense + "wi_1", inner));
  return g.add(x, linear(g, hidden, dense + "wo", width));
}

Tensor T5::encode(GraphBuilder &g, Weight table) const {
  auto layer = [&](Tensor x, Weight bias) { return feedForward(g, selfAttention(g, x, Mask::Full, bias), "layer.1"); };
  Tensor x = stack(g, "encoder", encoderLayers, g.embedding(table), /*bidirectional=*/true, layer);
  return norm(g, x, "encoder.final_layer_norm");
}

// Keys and values of cross-attention, for every layer of the decoder.
void T5::keepSource(GraphBuilder &g, Tensor memory) const {
  g.each("decoder.block", decoderLayers, [&](int64_t) {
    Tensor keys = heading(g, memory, "layer.1.EncDecAttention.k"),
           values = heading(g, memory, "layer.1.EncDecAttention.v");
    g.kvAppend(source(g), keys, values);
  });
}

Tensor T5::decode(GraphBuilder &g, Tensor x, Tensor memory) const {
  auto layer = [&](Tensor x, Weight bias) {
    return feedForward(g, crossAttention(g, selfAttention(g, x, Mask::Causal, bias), memory), "layer.2");
  };
  x = stack(g, "decoder", decoderLayers, x, /*bidirectional=*/false, layer);
  return norm(g, g.select(x), "decoder.final_layer_norm");
}

void T5::defineWords(GraphBuilder &g, const std::string &tableName) const {
  const std::string headName = "lm_head.weight";
  auto [table, head] = g.tiedWeights(tableName, headName, tableShape(), tied || !g.has(headName));
  g.encoder([&, table = table] { keepSource(g, encode(g, table)); });
  Tensor x = decode(g, g.embedding(table), {});
  if (scaled)
    x = g.scale(x, 1 / std::sqrt(static_cast<double>(width)));
  g.output(g.linear(x, head));
}

void T5::defineClasses(GraphBuilder &g, Weight table) const {
  g.useAsEmbedder();
  Tensor memory = encode(g, table);
  if (task == Task::Tokens) {
    g.output(g.linear(g.select(memory), "classifier", static_cast<int64_t>(labels.size())), Output::TokenClasses);
    return g.labels(labels);
  }
  Tensor x = decode(g, shiftedEmbedding(g, table, startToken, vocabulary, width % heads == 0 ? heads : 1), memory);
  outputClasses(g, x, labels, task == Task::Text, endToken);
}

void T5::define(GraphBuilder &g) const {
  g.positions(positions, /*hard=*/false);
  const std::string name =
      g.storedName({"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"});
  if (task == Task::Words && !g.isEmbedder())
    return defineWords(g, name);
  Weight table = g.weight(name, tableShape());
  if (task == Task::Words || task == Task::Hidden)
    g.output(g.select(encode(g, table)), Output::Hidden);
  else
    defineClasses(g, table);
}

static void define(GraphBuilder &g, const ModelConfig &config, const Variant &variant) {
  T5 model(config, variant);
  if (!config.failed())
    model.define(g);
}

void defineT5(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, {32128, 2048, 6, 8, "relu", true});
}

// LongT5 (arXiv 2112.07916).
void defineLongT5(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, {32128, 2048, 6, 8, "relu", true, /*hasLayerTables=*/false, /*isLocal=*/true});
}

void defineUmt5(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, {250112, 1024, 8, 6, "gated-gelu", true, /*hasLayerTables=*/true});
}

void defineMt5(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, {250112, 1024, 8, 6, "gated-gelu", false});
}

}  // namespace talc
