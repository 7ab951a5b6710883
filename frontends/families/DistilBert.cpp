// SPDX-License-Identifier: Apache-2.0
// DistilBERT (arXiv 1910.01108): BERT without token types and pooler, under names of its own.
#include "frontends/GraphBuilder.h"
#include "frontends/families/Families.h"
#include "frontends/huggingface/ModelConfig.h"

#include <cmath>

namespace talc {

namespace {

enum class Head { None, Masked, Text, Tokens };

struct DistilBert {
  explicit DistilBert(const ModelConfig &config);
  Tensor layer(GraphBuilder &g, Tensor x) const;
  Tensor attention(GraphBuilder &g, Tensor x) const;
  Tensor maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const;
  Tensor textClasses(GraphBuilder &g, Tensor x) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;

  Head head;
  int64_t vocabulary, positions, width, layers, heads, inner;
  Activation activation;
  bool tied;
  std::vector<std::string> labels;
};

}  // namespace

DistilBert::DistilBert(const ModelConfig &config) {
  constexpr Head known[] = {Head::None, Head::Masked, Head::Text, Head::Tokens};
  head = known[config.head({"DistilBertModel", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"})];
  vocabulary = config.integer("vocab_size", 30522, ModelConfig::size);
  positions = config.integer("max_position_embeddings", 512, ModelConfig::positionCount);
  width = config.integer("dim", 768, ModelConfig::size);
  layers = config.integer("n_layers", 6, ModelConfig::layerCount);
  heads = config.integer("n_heads", 12, ModelConfig::headCount);
  inner = config.integer("hidden_dim", 3072, ModelConfig::size);
  activation = config.activation("activation", "gelu");
  tied = config.flag("tie_word_embeddings", true);
  // sinusoidal_pos_embds says how positions began; checkpoints store them in either case.
  config.requireDivides("n_heads", heads, "dim", width);
  if (head == Head::Text || head == Head::Tokens)
    labels = config.labels();
}

Tensor DistilBert::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  constexpr double epsilon = 1e-12;
  return g.layerNorm(x, name, epsilon);
}

Tensor DistilBert::attention(GraphBuilder &g, Tensor x) const {
  Tensor queries = g.linear(x, "attention.q_lin", width);
  Tensor keys = g.linear(x, "attention.k_lin", width);
  Tensor values = g.linear(x, "attention.v_lin", width);
  double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  return g.linear(g.attention(queries, keys, values, {heads, heads, scale, Mask::Full}), "attention.out_lin", width);
}

Tensor DistilBert::layer(GraphBuilder &g, Tensor x) const {
  x = norm(g, g.add(x, attention(g, x)), "sa_layer_norm");
  Tensor hidden = g.activation(g.linear(x, "ffn.lin1", inner), activation);
  return norm(g, g.add(x, g.linear(hidden, "ffn.lin2", width)), "output_layer_norm");
}

Tensor DistilBert::maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const {
  x = norm(g, g.activation(g.linear(x, "vocab_transform", width), activation), "vocab_layer_norm");
  return g.linear(x, projection, g.weight("vocab_projector.bias", {vocabulary}));
}

Tensor DistilBert::textClasses(GraphBuilder &g, Tensor x) const {
  x = g.activation(g.linear(x, "pre_classifier", width), Activation::Relu);
  return g.linear(x, "classifier", static_cast<int64_t>(labels.size()));
}

void defineDistilBert(GraphBuilder &g, const ModelConfig &config) {
  DistilBert model(config);
  if (config.failed())
    return;
  g.positions(model.positions, /*hard=*/true);
  const std::string place = "distilbert.embeddings.";
  const GraphBuilder::Shape shape = {model.vocabulary, model.width};
  Weight table, projection;
  if (model.head == Head::Masked)
    std::tie(table, projection) =
        g.tiedWeights(place + "word_embeddings.weight", "vocab_projector.weight", shape, model.tied);
  else
    table = g.weight(place + "word_embeddings.weight", shape, "vocab_size by dim");
  Weight positions = g.weight(place + "position_embeddings.weight", {model.positions, model.width});
  Tensor x = model.norm(g, g.add(g.embedding(table), g.position(positions)), place + "LayerNorm");
  x = g.repeat("distilbert.transformer.layer", model.layers, x, [&](Tensor x, int64_t) { return model.layer(g, x); });
  if (model.head == Head::Masked)
    g.output(model.maskedLogits(g, g.select(x), projection), Output::Logits);
  if (model.head == Head::Text)
    g.output(model.textClasses(g, g.select(x)), Output::Classes);
  if (model.head == Head::Tokens)
    g.output(g.linear(g.select(x), "classifier", model.labels.size()), Output::TokenClasses);
  g.output(g.select(x, model.head == Head::None ? 0 : 1), Output::Hidden);
  g.labels(model.labels);
}

}  // namespace talc
