// SPDX-License-Identifier: Apache-2.0
// BERT (arXiv 1810.04805) and its variants RoBERTa (arXiv 1907.11692), XLM-RoBERTa (arXiv 1911.02116), CamemBERT
// (arXiv 1911.03894) and DistilBERT (arXiv 1910.01108): an encoder with learned positions, and mostly token types,
// layer norm after each part.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"

#include <cmath>

namespace talc {

namespace {

// Keys of the configuration.
struct Keys {
  const char *width = "hidden_size", *layers = "num_hidden_layers", *heads = "num_attention_heads",
             *inner = "intermediate_size", *activation = "hidden_act";
};

// Names of the tensors of a layer.
struct LayerNames {
  std::string query = "attention.self.query", key = "attention.self.key", value = "attention.self.value",
              mixed = "attention.output.dense", mixedNorm = "attention.output.LayerNorm", inner = "intermediate.dense",
              outer = "output.dense", outerNorm = "output.LayerNorm";
};

// Names of the tensors of a head that guesses masked tokens.
struct MaskedHead {
  std::string dense, norm, projection, bias;
};

// The head that classifies texts.
struct TextHead {
  std::string dense, projection;
  Activation activation = Activation::Tanh;
};

// What tells the variants apart. Numbers are default values of the configuration.
struct Variant {
  std::string model;  // the architecture without a head
  std::string base;   // prefix of tensor names
  MaskedHead masked;
  TextHead text;
  int64_t vocabulary = 30522, padding = 0, layerCount = 12;
  bool afterPadding = false;  // positions count from the padding token's id + 1
  bool hasTypes = true;
  std::string layers = "encoder.layer";
  Keys keys = {};
  LayerNames layer = {};
};

enum class Head { None, Masked, Text, Tokens };

struct Bert {
  Bert(const ModelConfig &config, const Variant &variant);
  void readPositions(const ModelConfig &config);
  void readHead(const ModelConfig &config);
  Tensor embedding(GraphBuilder &g, Weight table) const;
  Tensor layer(GraphBuilder &g, Tensor x) const;
  Tensor attention(GraphBuilder &g, Tensor x) const;
  Tensor maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const;
  Tensor textClasses(GraphBuilder &g, Tensor x) const;

  Variant variant;
  Head head;
  int64_t vocabulary, positions, firstPosition, types = 0, width, layers, heads, inner;
  Activation activation, headActivation;
  double epsilon = 1e-12;
  bool tied;
  std::vector<std::string> labels;
};

}  // namespace

Bert::Bert(const ModelConfig &config, const Variant &variant) : variant(variant) {
  const Keys &keys = variant.keys;
  vocabulary = config.integer("vocab_size", variant.vocabulary, ModelConfig::size);
  width = config.integer(keys.width, 768, ModelConfig::size);
  layers = config.integer(keys.layers, variant.layerCount, ModelConfig::layerCount);
  heads = config.integer(keys.heads, 12, ModelConfig::headCount);
  inner = config.integer(keys.inner, 3072, ModelConfig::size);
  activation = config.activation(keys.activation, "gelu");
  tied = config.flag("tie_word_embeddings", true);
  config.requireDivides(keys.heads, heads, keys.width, width);
  for (const char *key : {"is_decoder", "add_cross_attention"})
    config.refuseFlag(key, "talc knows the family as an encoder");
  if (variant.hasTypes) {  // DistilBERT has neither key
    types = config.integer("type_vocab_size", 2, ModelConfig::size);
    epsilon = config.positive("layer_norm_eps", epsilon);
  }
  readPositions(config);
  readHead(config);
}

// sinusoidal_pos_embds says how positions began; checkpoints store them in either case.
void Bert::readPositions(const ModelConfig &config) {
  positions = config.integer("max_position_embeddings", 512, ModelConfig::positionCount);
  int64_t padding = config.integerOrNull("pad_token_id", variant.padding, {0, ModelConfig::size.most}).value_or(0);
  firstPosition = variant.afterPadding ? padding + 1 : 0;
  if (firstPosition >= positions)
    config.invalid("max_position_embeddings", "leaves no position, since positions count from pad_token_id + 1");
  if (config.text("position_embedding_type", "absolute") != "absolute")
    config.unsupported("position_embedding_type", "is not 'absolute': talc knows learned positions here");
}

void Bert::readHead(const ModelConfig &config) {
  constexpr Head known[] = {Head::None, Head::Masked, Head::Masked, Head::Text, Head::Tokens};
  head = known[config.head(
      {variant.model, "ForMaskedLM", "ForPreTraining", "ForSequenceClassification", "ForTokenClassification"})];
  headActivation = variant.afterPadding ? Activation::Gelu : activation;
  if (head == Head::Text || head == Head::Tokens)
    labels = config.labels();
}

Tensor Bert::embedding(GraphBuilder &g, Weight table) const {
  const std::string place = variant.base + "embeddings.";
  Weight positionTable = g.weight(place + "position_embeddings.weight", {positions, width}, "max_position_embeddings");
  Tensor x = g.add(g.embedding(table), g.position(positionTable, firstPosition));
  if (variant.hasTypes)
    x = g.add(x, g.tokenType(g.weight(place + "token_type_embeddings.weight", {types, width}, "type_vocab_size")));
  return g.layerNorm(x, place + "LayerNorm", epsilon);
}

Tensor Bert::attention(GraphBuilder &g, Tensor x) const {
  Tensor queries = g.linear(x, variant.layer.query, width);
  Tensor keys = g.linear(x, variant.layer.key, width);
  Tensor values = g.linear(x, variant.layer.value, width);
  double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  return g.linear(g.attention(queries, keys, values, {heads, heads, scale, Mask::Full}), variant.layer.mixed, width);
}

Tensor Bert::layer(GraphBuilder &g, Tensor x) const {
  x = g.layerNorm(g.add(x, attention(g, x)), variant.layer.mixedNorm, epsilon);
  Tensor hidden = g.activation(g.linear(x, variant.layer.inner, inner), activation);
  return g.layerNorm(g.add(x, g.linear(hidden, variant.layer.outer, width)), variant.layer.outerNorm, epsilon);
}

Tensor Bert::maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const {
  x = g.layerNorm(g.activation(g.linear(x, variant.masked.dense, width), headActivation), variant.masked.norm, epsilon);
  std::string bias = g.storedName({variant.masked.bias, variant.masked.projection + ".bias"});
  return g.linear(x, projection, g.weight(bias, {vocabulary}));
}

Tensor Bert::textClasses(GraphBuilder &g, Tensor x) const {
  Tensor pooled = g.activation(g.linear(x, variant.text.dense, width), variant.text.activation);
  return g.linear(pooled, variant.text.projection, static_cast<int64_t>(labels.size()));
}

static void define(GraphBuilder &g, const ModelConfig &config, const Variant &variant) {
  Bert model(config, variant);
  if (config.failed())
    return;
  g.positions(model.positions - model.firstPosition, /*hard=*/true);
  const std::string tableName = variant.base + "embeddings.word_embeddings.weight";
  const GraphBuilder::Shape shape = {model.vocabulary, model.width};
  Weight table, projection;
  if (model.head == Head::Masked)
    std::tie(table, projection) = g.tiedWeights(tableName, variant.masked.projection + ".weight", shape, model.tied);
  else
    table = g.weight(tableName, shape, std::string("vocab_size by ") + variant.keys.width);
  Tensor x = model.embedding(g, table);
  x = g.repeat(variant.base + variant.layers, model.layers, x, [&](Tensor x, int64_t) { return model.layer(g, x); });
  if (model.head == Head::Masked)
    g.output(model.maskedLogits(g, g.select(x), projection), Output::Logits);
  if (model.head == Head::Text)
    g.output(model.textClasses(g, g.select(x)), Output::Classes);
  if (model.head == Head::Tokens)
    g.output(g.linear(g.select(x), "classifier", model.labels.size()), Output::TokenClasses);
  g.output(g.select(x, model.head == Head::None ? 0 : 1), Output::Hidden);
  g.labels(model.labels);
}

void defineBert(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked{"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder",
                    "cls.predictions.bias"};
  define(g, config, {"BertModel", "bert.", masked, {"bert.pooler.dense", "classifier"}});
}

void defineDistilBert(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked{"vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"};
  Variant variant{"DistilBertModel", "distilbert.", masked, {"pre_classifier", "classifier", Activation::Relu}};
  variant.layerCount = 6;
  variant.hasTypes = false;
  variant.layers = "transformer.layer";
  variant.keys = {"dim", "n_layers", "n_heads", "hidden_dim", "activation"};
  variant.layer = {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                   "sa_layer_norm",   "ffn.lin1",        "ffn.lin2",        "output_layer_norm"};
  define(g, config, variant);
}

// RoBERTa's heads, under the defaults of one of its variants.
static void defineRoberta(GraphBuilder &g, const ModelConfig &config, const std::string &model, int64_t vocabulary) {
  MaskedHead masked{"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"};
  Variant variant{model, "roberta.", masked, {"classifier.dense", "classifier.out_proj"}, vocabulary, /*padding=*/1};
  variant.afterPadding = true;
  define(g, config, variant);
}

void defineRoberta(GraphBuilder &g, const ModelConfig &config) {
  defineRoberta(g, config, "RobertaModel", 50265);
}

void defineXlmRoberta(GraphBuilder &g, const ModelConfig &config) {
  defineRoberta(g, config, "XLMRobertaModel", 30522);
}

void defineCamembert(GraphBuilder &g, const ModelConfig &config) {
  defineRoberta(g, config, "CamembertModel", 30522);
}

}  // namespace talc
