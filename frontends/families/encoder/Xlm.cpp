// SPDX-License-Identifier: Apache-2.0
// XLM (arXiv 1901.07291) and FlauBERT (arXiv 1912.05372): BERT, whose layers have their tensors in lists of parts.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"

#include <cmath>
#include <string>
#include <tuple>

namespace talc {

namespace {

enum class Head { None, Masked, Text, Tokens };

struct Xlm {
  Xlm(const ModelConfig &config, bool mayNormBefore);
  void readHead(const ModelConfig &config);
  void define(GraphBuilder &g) const;
  Tensor attention(GraphBuilder &g, Tensor x, const std::string &number) const;
  Tensor feedForward(GraphBuilder &g, Tensor x, const std::string &number) const;
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor summary(GraphBuilder &g, Tensor x) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const { return g.layerNorm(x, name, epsilon); }

  Head head;
  int64_t vocabulary, width, layers, heads, positions;
  Activation activation;
  double epsilon;
  bool isNormedBefore, tied, projectsToLabels = true;
  std::vector<std::string> labels;
};

}  // namespace

Xlm::Xlm(const ModelConfig &config, bool mayNormBefore) {
  vocabulary = config.integer(config.has("n_words") ? "n_words" : "vocab_size", 30145, ModelConfig::size);
  config.passOver("vocab_size", vocabulary);
  width = config.integer("emb_dim", 2048, ModelConfig::size);
  layers = config.integer("n_layers", 12, ModelConfig::layerCount);
  heads = config.integer("n_heads", 16, ModelConfig::headCount);
  positions = config.integer("max_position_embeddings", 512, ModelConfig::positionCount);
  activation = config.flag("gelu_activation", true) ? Activation::Gelu : Activation::Relu;
  epsilon = config.positive("layer_norm_eps", 1e-12);
  isNormedBefore = mayNormBefore && config.flag("pre_norm", false);
  tied = config.flag("tie_word_embeddings", true);
  config.requireDivides("n_heads", heads, "emb_dim", width);
  for (const char *key : {"causal", "asm"})
    config.refuseFlag(key, "talc knows the family without it");
  if (!config.flag("is_encoder", true))
    config.unsupported("is_encoder", "is false; talc knows the family as an encoder");
  if (config.integer("n_langs", 1, ModelConfig::size) > 1 && config.flag("use_lang_emb", true))
    config.unsupported("use_lang_emb", "is true, but the languages of tokens are not among talc's inputs");
  config.passOver({"use_lang_emb", "sinusoidal_embeddings", "bos_index", "eos_index", "pad_index", "unk_index",
                   "mask_index", "lang_id", "id2lang", "lang2id", "start_n_top", "end_n_top", "max_vocab", "min_count",
                   "amp", "encoder_only", "share_inout_emb"});
  readHead(config);
}

void Xlm::readHead(const ModelConfig &config) {
  constexpr Head known[] = {Head::None, Head::Masked, Head::Text, Head::Tokens, Head::Tokens};
  constexpr size_t question = 4;
  // "XLMWithLMHeadModel" ends like the base model.
  const size_t number = config.head({"WithLMHeadModel", "Model", "ForSequenceClassification", "ForTokenClassification",
                                     "ForQuestionAnsweringSimple"});
  head = number < 2 ? known[1 - number] : known[number];
  if (config.texts("architectures").empty())
    head = Head::None;
  if (head == Head::Text || head == Head::Tokens)
    labels = number == question ? std::vector<std::string>{"start", "end"} : config.labels();
  if (head != Head::Text)
    return;
  if (config.text("summary_type", "first") != "first" || !config.flag("summary_use_proj", true) ||
      config.has("summary_activation"))
    config.unsupported("summary_type", "and the keys beside it differ from 'first', with a projection alone");
  if (!config.flag("summary_proj_to_labels", true))
    config.unsupported("summary_proj_to_labels", "is false; talc knows the head that projects to classes");
}

Tensor Xlm::attention(GraphBuilder &g, Tensor x, const std::string &number) const {
  const std::string place = "transformer.attentions." + number + ".";
  auto project = [&](const char *name) { return g.linear(x, place + name, width); };
  Tensor queries = project("q_lin"), keys = project("k_lin"), values = project("v_lin");
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  return g.linear(g.attention(queries, keys, values, {heads, heads, scale, Mask::Full}), place + "out_lin", width);
}

Tensor Xlm::feedForward(GraphBuilder &g, Tensor x, const std::string &number) const {
  const std::string place = "transformer.ffns." + number + ".";
  return g.linear(g.activation(g.linear(x, place + "lin1", 4 * width), activation), place + "lin2", width);
}

// Its weights do not lie in a module of its own, so it is not written as a repeated block.
Tensor Xlm::layer(GraphBuilder &g, Tensor x, int64_t layer) const {
  const std::string number = std::to_string(layer);
  const std::string first = "transformer.layer_norm1." + number, second = "transformer.layer_norm2." + number;
  if (isNormedBefore) {
    x = g.add(x, attention(g, norm(g, x, first), number));
    return g.add(x, feedForward(g, norm(g, x, second), number));
  }
  x = norm(g, g.add(x, attention(g, x, number)), first);
  return norm(g, g.add(x, feedForward(g, x, number)), second);
}

void Xlm::define(GraphBuilder &g) const {
  g.positions(positions, /*hard=*/true);
  const std::string name = "transformer.embeddings.weight", headName = "pred_layer.proj.weight";
  Weight table, projection;
  if (head == Head::Masked)
    std::tie(table, projection) = g.tiedWeights(name, headName, {vocabulary, width}, tied);
  else
    table = g.weight(name, {vocabulary, width}, "n_words by emb_dim");
  Weight rows = g.weight("transformer.position_embeddings.weight", {positions, width}, "max_position_embeddings");
  Tensor x = norm(g, g.add(g.embedding(table), g.position(rows)), "transformer.layer_norm_emb");
  for (int64_t number = 0; number < layers; ++number)
    x = layer(g, x, number);
  const auto classes = static_cast<int64_t>(labels.size());
  if (head == Head::Masked)
    g.output(g.linear(g.select(x), projection, g.weight("pred_layer.proj.bias", {vocabulary})), Output::Logits);
  if (head == Head::Text)
    g.output(g.linear(g.select(x), "sequence_summary.summary", classes), Output::Classes);
  if (head == Head::Tokens)
    g.output(g.linear(g.select(x), g.has("qa_outputs.weight") ? "qa_outputs" : "classifier", classes),
             Output::TokenClasses);
  g.output(g.select(x, head == Head::None ? 0 : 1), Output::Hidden);
  g.labels(labels);
}

static void define(GraphBuilder &g, const ModelConfig &config, bool mayNormBefore) {
  Xlm model(config, mayNormBefore);
  if (!config.failed())
    model.define(g);
}

void defineXlm(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, /*mayNormBefore=*/false);
}

void defineFlauBert(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, /*mayNormBefore=*/true);
}

}  // namespace talc
