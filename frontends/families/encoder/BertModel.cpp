// SPDX-License-Identifier: Apache-2.0
// Reads a configuration with BERT's keys and writes BERT's layers and heads.
#include "frontends/families/encoder/BertModel.h"

#include "frontends/families/decoder/TokenRows.h"

#include <algorithm>
#include <cmath>

namespace talc {

// Tables of distances may have more rows, which nothing uses.
constexpr int64_t usedBuckets = 32;

//===--- configuration ------------------------------------------------------------------------------------------===//

BertModel::BertModel(const ModelConfig &config, const BertVariant &variant) : variant(variant) {
  const BertKeys &keys = variant.keys;
  const BertSizes &sizes = variant.sizes;
  vocabulary = config.integer("vocab_size", sizes.vocabulary, ModelConfig::size);
  width = tableWidth = config.integer(keys.width, sizes.width, ModelConfig::size);
  if (sizes.table > 0)
    tableWidth = config.integerOrNull(sizes.tableKey, sizes.table, ModelConfig::size).value_or(sizes.table);
  outputWidth = tableWidth;
  if (sizes.output > 0)
    outputWidth = config.integer("output_embedding_size", sizes.output, ModelConfig::size);
  layers = config.integer(keys.layers, sizes.layers, ModelConfig::layerCount);
  readHeads(config);
  inner = config.integer(keys.inner, sizes.inner, ModelConfig::size);
  activation = keys.activation ? config.activation(keys.activation, variant.activation)
                               : config.activationNamed("hidden_act", variant.activation);
  tied = config.flag("tie_word_embeddings", true) && sizes.output == 0;
  for (const char *key : {"is_decoder", "add_cross_attention"})
    config.refuseFlag(key, "talc knows the family as an encoder");
  if (variant.hasTypes)
    types = config.integer("type_vocab_size", sizes.types, {sizes.types > 1 ? 1 : 0, ModelConfig::size.maximum});
  epsilon = variant.hasEpsilon ? config.positive("layer_norm_eps", variant.epsilon) : variant.epsilon;
  if (variant.distanceBias)
    buckets = config.integer("relative_attention_num_buckets", usedBuckets, {usedBuckets, ModelConfig::size.maximum});
  if (variant.rope && variant.rope->thetaKey)
    rope = config.rope(headWidth, "full_attention", *variant.rope);
  else if (variant.rope)
    rope = Rope{headWidth, variant.rope->theta, {}};
  readPositions(config);
  readHead(config);
}

void BertModel::readHeads(const ModelConfig &config) {
  heads = config.integer(variant.keys.heads, variant.sizes.heads, ModelConfig::headCount);
  headWidth = width / heads;
  const char *key = variant.headWidthKey;
  if (key && config.has(key))
    headWidth = config.integer(key, headWidth, ModelConfig::headCount);
  else
    config.requireDivides(variant.keys.heads, heads, variant.keys.width, width);
}

// sinusoidal_pos_embds says how positions began; checkpoints store them in either case.
void BertModel::readPositions(const ModelConfig &config) {
  const char *key = "pad_token_id";
  positions = config.integer("max_position_embeddings", variant.sizes.positions, ModelConfig::positionCount);
  firstPosition = 0;
  if (rope)
    return;
  padding = variant.padding;
  if (variant.ownPadding && variant.afterPadding && config.isNull(key))
    config.invalid(key, "is null, but positions count from its value + 1");
  if (variant.ownPadding)
    padding = config.integerOrNull(key, padding, {variant.afterPadding ? 0 : -1, ModelConfig::size.maximum})
                  .value_or(padding);
  firstPosition = variant.afterPadding ? padding + 1 : 0;
  if (firstPosition >= positions)
    config.invalid("max_position_embeddings", "leaves no position, since positions count from pad_token_id + 1");
  if (config.text("position_embedding_type", "absolute") != "absolute")
    config.unsupported("position_embedding_type", "is not 'absolute': talc knows learned positions here");
}

void BertModel::readHead(const ModelConfig &config) {
  const Head pretraining = variant.discriminator.empty() ? Head::Masked : Head::Discriminator;
  const Head known[] = {Head::None,   Head::Masked,   pretraining, Head::Text,
                        Head::Tokens, Head::Question, Head::Text,  Head::Text};
  constexpr size_t choice = 6, nextSentence = 7;
  const size_t number =
      config.head({"Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification", "ForTokenClassification",
                   "ForQuestionAnswering", "ForMultipleChoice", "ForNextSentencePrediction"});
  head = known[number];
  headActivation = variant.geluHead ? Activation::Gelu : activation;
  if (number == choice)
    useChoice(config);
  else if (number == nextSentence)
    useNextSentence(config);
  else if (head == Head::Text || head == Head::Tokens)
    labels = config.labels();
  if (head == Head::Discriminator)
    labels = {"replaced"};
  if (head == Head::Question)
    labels = {"start", "end"};
}

void BertModel::useChoice(const ModelConfig &config) {
  if (variant.choice.projection.empty())
    config.unsupported("architectures", "chooses among texts, for which talc knows no head of this family");
  if (variant.choice.dense.empty())
    variant.choice.dense = variant.base + "pooler.dense";
  variant.text = variant.choice;
  labels = {"choice"};
}

// Class 0: the second sentence follows the first one.
void BertModel::useNextSentence(const ModelConfig &config) {
  if (!variant.hasNextSentence)
    config.unsupported("architectures", "predicts next sentences, which this family never learned");
  variant.text = {variant.base + "pooler.dense", "cls.seq_relationship"};
  labels = {"next", "random"};
}

//===--- graph --------------------------------------------------------------------------------------------------===//

Tensor BertModel::convolution(GraphBuilder &g, Tensor x, const Part &part, int64_t outputs) const {
  const int64_t inputs = x.width() / part.groups;
  Weight matrix = g.reshaped(part.name + ".weight", {outputs, inputs}, {outputs, inputs, 1});
  return g.groupedLinear(x, matrix, part.groups, g.weight(part.name + ".bias", {outputs}));
}

Tensor BertModel::linear(GraphBuilder &g, Tensor x, const Part &part, int64_t outputs, bool bias) const {
  if (variant.groups)
    return convolution(g, x, part, outputs);
  const int64_t all = part.parts * outputs;
  auto some = [&](Weight weight) {
    weight = part.parts == 1 ? weight : g.rows(weight, part.number * outputs, outputs, all);
    return part.isTurned ? g.halfSplit(weight, headWidth, headWidth) : weight;
  };
  Weight matrix = some(g.weight(part.name + ".weight", {all, x.width()}, "outputs by inputs"));
  return g.linear(x, matrix, bias ? some(g.weight(part.name + ".bias", {all})) : Weight());
}

Tensor BertModel::words(GraphBuilder &g, Weight table) const {
  Tensor x = g.embedding(table);
  return variant.isEmbeddingScaled ? g.scale(x, std::sqrt(static_cast<double>(width))) : x;
}

Tensor BertModel::embedding(GraphBuilder &g, Weight table) const {
  const std::string place = variant.base + "embeddings.";
  Weight rows;
  if (!rope)
    rows = g.weight(place + "position_embeddings.weight", {positions, tableWidth}, "max_position_embeddings");
  Tensor x = words(g, table);
  if (!rope)
    x = g.add(x, variant.afterPadding ? g.position(rows, firstPosition, padding) : g.position(rows));
  if (types > 0)
    x = g.add(x, g.tokenType(g.weight(place + "token_type_embeddings.weight", {types, tableWidth}, "type_vocab_size")));
  for (const ZeroInput &input : variant.zeroInputs)
    x = g.add(x, zeroInput(g, x, input));
  if (!variant.tableNorm.empty())
    x = g.layerNorm(x, variant.base + variant.tableNorm, epsilon);
  bool projects = !variant.projection.empty() && (variant.alwaysProjects || tableWidth != width);
  return projects ? g.linear(x, variant.projection, width) : x;
}

Tensor BertModel::zeroInput(GraphBuilder &g, Tensor x, const ZeroInput &input) const {
  Weight table = g.weight(variant.base + "embeddings." + input.table + ".weight", {input.rows, tableWidth});
  Tensor row = constantRow(g, x, table, 0, input.rows);
  return input.times == 1 ? row : g.scale(row, input.times);
}

Tensor BertModel::attention(GraphBuilder &g, Tensor x, int64_t number) const {
  const BertLayer &names = variant.layer;
  const BertGroups groups = variant.groups.value_or(BertGroups());
  auto project = [&](const std::string &name, int64_t number) {
    Part part = names.packed.empty() ? Part{name} : Part{names.packed, number, 3};
    part.groups = number == 0 ? groups.query : number == 1 ? groups.key : groups.value;
    part.isTurned = variant.turnsNeighbors && number < 2;
    return linear(g, x, part, heads * headWidth, variant.attentionBias && variant.inputBias);
  };
  Tensor queries = project(names.query, 0), keys = project(names.key, 1), values = project(names.value, 2);
  if (rope) {
    queries = g.rope(queries, heads, *rope);
    keys = g.rope(keys, heads, *rope);
  }
  double scale = 1 / std::sqrt(static_cast<double>(headWidth));
  const int64_t window = variant.windows.empty() ? 0 : variant.windows[number];
  Attention kind = {heads, heads, scale, Mask::Full, window, bias};
  return linear(g, g.attention(queries, keys, values, kind), {names.mixed, 0, 1, false, groups.mixed}, width,
                variant.attentionBias);
}

Tensor BertModel::feedForward(GraphBuilder &g, Tensor x) const {
  const BertLayer &names = variant.layer;
  const BertGroups groups = variant.groups.value_or(BertGroups());
  auto project = [&](const std::string &name, int64_t number) {
    Part part = names.pair.empty() ? Part{name} : Part{names.pair, number, 2};
    part.groups = groups.inner;
    return linear(g, x, part, inner, variant.innerBias);
  };
  Tensor hidden = project(names.inner, 0);
  hidden =
      isGated() ? g.mul(g.activation(project(names.gate, 1), activation), hidden) : g.activation(hidden, activation);
  return linear(g, hidden, {names.outer, 0, 1, false, groups.outer}, width, variant.outerBias);
}

Tensor BertModel::layer(GraphBuilder &g, Tensor x, int64_t number) const {
  auto norm = [&](Tensor x, const std::string &name) { return g.layerNorm(x, name, epsilon); };
  const std::string &first = variant.layer.mixedNorm, &second = variant.layer.outerNorm;
  if (variant.lastNorm.empty()) {
    x = norm(g.add(x, attention(g, x, number)), first);
    return norm(adapt(g, g.add(x, feedForward(g, x))), second);
  }
  x = g.add(x, attention(g, norm(x, first), number));
  return adapt(g, g.add(x, feedForward(g, norm(x, second))));
}

Tensor BertModel::encode(GraphBuilder &g, Tensor x) const {
  x = g.repeat(variant.base + variant.layers, layers, x, [&](Tensor x, int64_t number) { return layer(g, x, number); });
  return variant.lastNorm.empty() ? x : g.layerNorm(x, variant.base + variant.lastNorm, epsilon);
}

Tensor BertModel::maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const {
  x = g.activation(g.linear(x, variant.masked.dense, outputWidth), headActivation);
  x = g.layerNorm(x, variant.masked.norm, epsilon);
  std::vector<std::string> biases = {variant.masked.bias, variant.masked.projection + ".bias"};
  if (!tied)
    std::swap(biases.front(), biases.back());
  return g.linear(x, projection, g.weight(g.storedName(biases, tied), {vocabulary}));
}

Tensor BertModel::replacedScores(GraphBuilder &g, Tensor x) const {
  const std::string &place = variant.discriminator;
  return g.linear(g.activation(g.linear(x, place + ".dense", width), activation), place + ".dense_prediction", 1);
}

Tensor BertModel::textClasses(GraphBuilder &g, Tensor x) const {
  auto count = static_cast<int64_t>(labels.size());
  if (variant.text.dense.empty())
    return g.linear(x, variant.text.projection, count);
  Tensor pooled = g.activation(g.linear(x, variant.text.dense, width), variant.text.activation);
  return g.linear(pooled, variant.text.projection, count);
}

void BertModel::defineHead(GraphBuilder &g, Tensor x, Weight projection) const {
  switch (head) {
  case Head::None:
    return;
  case Head::Masked:
    return g.output(maskedLogits(g, g.select(x), projection), Output::Logits);
  case Head::Discriminator:
    return g.output(replacedScores(g, g.select(x)), Output::TokenClasses);
  case Head::Text:
    return g.output(textClasses(g, g.select(x)), Output::Classes);
  case Head::Tokens:
    return g.output(g.linear(g.select(x), "classifier", static_cast<int64_t>(labels.size())), Output::TokenClasses);
  case Head::Question:
    return g.output(g.linear(g.select(x), "qa_outputs", static_cast<int64_t>(labels.size())), Output::TokenClasses);
  }
}

void BertModel::define(GraphBuilder &g) {
  const int64_t count = positions - firstPosition;
  g.positions(variant.usedPositions > 0 ? std::min(count, variant.usedPositions) : count, /*hard=*/!rope);
  const std::string tableName = variant.base + "embeddings.word_embeddings.weight";
  const GraphBuilder::Shape shape = {vocabulary, tableWidth};
  Weight table, projection;
  const std::string projectionName = variant.masked.projection + ".weight";
  if (head == Head::Masked && variant.sizes.output == 0)
    std::tie(table, projection) = g.tiedWeights(tableName, projectionName, shape, tied);
  else
    table = g.weight(tableName, shape, std::string("vocab_size by ") + variant.keys.width);
  if (head == Head::Masked && variant.sizes.output > 0)
    projection = g.weight(projectionName, {vocabulary, outputWidth}, "vocab_size by output_embedding_size");
  if (variant.distanceBias) {
    constexpr int64_t furthest = 128;
    Weight rows = g.weight(variant.base + "encoder.relative_attention_bias.weight", {buckets, heads});
    bias = g.relativeBias(buckets > usedBuckets ? g.rows(rows, 0, usedBuckets, buckets) : rows, /*bidirectional=*/true,
                          furthest);
  }
  Tensor x = encode(g, embedding(g, table));
  defineHead(g, x, projection);
  g.output(g.select(x, head == Head::None ? 0 : 1), Output::Hidden);
  g.labels(labels);
}

}  // namespace talc
