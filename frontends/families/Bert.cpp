// SPDX-License-Identifier: Apache-2.0
// BERT (arXiv 1810.04805) and its variants RoBERTa (arXiv 1907.11692), XLM-RoBERTa (arXiv 1911.02116) and CamemBERT
// (arXiv 1911.03894): an encoder with learned positions and token types, layer norm after each part.
#include "frontends/GraphBuilder.h"
#include "frontends/families/Families.h"
#include "frontends/huggingface/ModelConfig.h"

#include <cmath>

namespace talc {

namespace {

// Names of the tensors of a head that guesses masked tokens.
struct MaskedHead {
  std::string dense, norm, projection, bias;
};

// What tells the variants apart.
struct Variant {
  std::string model;   // the architecture without a head
  std::string base;    // prefix of tensor names
  int64_t vocabulary;  // default value of the configuration
  int64_t padding;     // the same
  bool afterPadding;   // positions count from the padding token's id + 1
  MaskedHead masked;
  std::string textDense, textProjection;  // names of the head that classifies texts
};

enum class Head { None, Masked, Text, Tokens };

struct Bert {
  Bert(const ModelConfig &config, const Variant &variant);
  void readHead(const ModelConfig &config);
  Tensor embedding(GraphBuilder &g, Weight table) const;
  Tensor layer(GraphBuilder &g, Tensor x) const;
  Tensor attention(GraphBuilder &g, Tensor x) const;
  Tensor maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const;
  Tensor textClasses(GraphBuilder &g, Tensor x) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;

  Variant variant;
  Head head;
  int64_t vocabulary, positions, firstPosition, types, width, layers, heads, inner;
  Activation activation, headActivation;
  double epsilon;
  bool tied;
  std::vector<std::string> labels;
};

}  // namespace

Bert::Bert(const ModelConfig &config, const Variant &variant) : variant(variant) {
  vocabulary = config.integer("vocab_size", variant.vocabulary, ModelConfig::size);
  positions = config.integer("max_position_embeddings", 512, ModelConfig::positionCount);
  types = config.integer("type_vocab_size", 2, ModelConfig::size);
  width = config.integer("hidden_size", 768, ModelConfig::size);
  layers = config.integer("num_hidden_layers", 12, ModelConfig::layerCount);
  heads = config.integer("num_attention_heads", 12, ModelConfig::headCount);
  inner = config.integer("intermediate_size", 3072, ModelConfig::size);
  activation = config.activation("hidden_act", "gelu");
  epsilon = config.positive("layer_norm_eps", 1e-12);
  tied = config.flag("tie_word_embeddings", true);
  config.requireDivides("num_attention_heads", heads, "hidden_size", width);
  int64_t padding = config.integerOrNull("pad_token_id", variant.padding, {0, ModelConfig::size.most}).value_or(0);
  firstPosition = variant.afterPadding ? padding + 1 : 0;
  if (firstPosition >= positions)
    config.invalid("max_position_embeddings", "leaves no position, since positions count from pad_token_id + 1");
  for (const char *key : {"is_decoder", "add_cross_attention"})
    config.refuseFlag(key, "talc knows the family as an encoder");
  if (config.text("position_embedding_type", "absolute") != "absolute")
    config.unsupported("position_embedding_type", "is not 'absolute': talc knows learned positions here");
  readHead(config);
}

void Bert::readHead(const ModelConfig &config) {
  constexpr Head known[] = {Head::None, Head::Masked, Head::Masked, Head::Text, Head::Tokens};
  head = known[config.head(
      {variant.model, "ForMaskedLM", "ForPreTraining", "ForSequenceClassification", "ForTokenClassification"})];
  headActivation = variant.afterPadding ? Activation::Gelu : activation;
  if (head == Head::Text || head == Head::Tokens)
    labels = config.labels();
}

Tensor Bert::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  return g.layerNorm(x, name, epsilon);
}

Tensor Bert::embedding(GraphBuilder &g, Weight table) const {
  const std::string place = variant.base + "embeddings.";
  Weight positionTable = g.weight(place + "position_embeddings.weight", {positions, width}, "max_position_embeddings");
  Weight typeTable = g.weight(place + "token_type_embeddings.weight", {types, width}, "type_vocab_size");
  Tensor x = g.add(g.embedding(table), g.position(positionTable, firstPosition));
  return norm(g, g.add(x, g.tokenType(typeTable)), place + "LayerNorm");
}

Tensor Bert::attention(GraphBuilder &g, Tensor x) const {
  Tensor queries = g.linear(x, "attention.self.query", width);
  Tensor keys = g.linear(x, "attention.self.key", width);
  Tensor values = g.linear(x, "attention.self.value", width);
  double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  Tensor mixed = g.attention(queries, keys, values, {heads, heads, scale, Mask::Full});
  return g.linear(mixed, "attention.output.dense", width);
}

Tensor Bert::layer(GraphBuilder &g, Tensor x) const {
  x = norm(g, g.add(x, attention(g, x)), "attention.output.LayerNorm");
  Tensor hidden = g.activation(g.linear(x, "intermediate.dense", inner), activation);
  return norm(g, g.add(x, g.linear(hidden, "output.dense", width)), "output.LayerNorm");
}

Tensor Bert::maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const {
  x = norm(g, g.activation(g.linear(x, variant.masked.dense, width), headActivation), variant.masked.norm);
  std::string bias = g.storedName({variant.masked.bias, variant.masked.projection + ".bias"});
  return g.linear(x, projection, g.weight(bias, {vocabulary}));
}

Tensor Bert::textClasses(GraphBuilder &g, Tensor x) const {
  Tensor pooled = g.activation(g.linear(x, variant.textDense, width), Activation::Tanh);
  return g.linear(pooled, variant.textProjection, static_cast<int64_t>(labels.size()));
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
    table = g.weight(tableName, shape, "vocab_size by hidden_size");
  Tensor x = model.embedding(g, table);
  x = g.repeat(variant.base + "encoder.layer", model.layers, x, [&](Tensor x, int64_t) { return model.layer(g, x); });
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
  define(g, config, {"BertModel", "bert.", 30522, 0, false, masked, "bert.pooler.dense", "classifier"});
}

// RoBERTa's heads, under the defaults of one of its variants.
static void defineRoberta(GraphBuilder &g, const ModelConfig &config, const std::string &model, int64_t vocabulary) {
  MaskedHead masked{"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"};
  define(g, config, {model, "roberta.", vocabulary, 1, true, masked, "classifier.dense", "classifier.out_proj"});
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
