// SPDX-License-Identifier: Apache-2.0
// Reads a configuration with Marian's keys and writes the encoder and the decoder.
#include "frontends/families/MarianModel.h"

#include "frontends/families/decoder/TokenRows.h"

#include <algorithm>
#include <cmath>

namespace talc {

MarianStack::MarianStack(const ModelConfig &config, const MarianVariant &variant, const std::string &name,
                         int64_t width)
    : place(variant.base + name + ".") {
  const std::string headsKey = name + "_attention_heads";
  layers = config.integer((name + "_layers").c_str(), variant.layers, ModelConfig::layerCount);
  heads = config.integer(headsKey.c_str(), 16, ModelConfig::headCount);
  inner = config.integer((name + "_ffn_dim").c_str(), 4096, ModelConfig::size);
  config.requireDivides(headsKey.c_str(), heads, "d_model", width);
}

Marian::Marian(const ModelConfig &config, const MarianVariant &variant)
    : variant(variant), width(config.integer("d_model", 1024, ModelConfig::size)),
      encoder(config, variant, "encoder", width), decoder(config, variant, "decoder", width) {
  positions = config.integer(variant.positionsKey, variant.positionCount, ModelConfig::positionCount);
  targetPositions = config.integer(variant.targetPositionsKey, 1024, ModelConfig::positionCount);
  activation = config.activation("activation_function", variant.activation);
  scaledEmbedding = config.flag("scale_embedding", variant.scaledEmbedding);
  tied = config.flag("tie_word_embeddings", variant.tied);
  normBefore = normEnd = variant.normBefore;
  normEmbedding = variant.normEmbedding;
  padding = variant.padding;
  if (variant.positions == MarianPositions::Counted)
    padding = config.integer("pad_token_id", padding, {0, ModelConfig::size.maximum});
  readVocabulary(config);
  readTask(config);
  if (variant.options)
    readOptions(config);
  else
    checkOptions(config);
}

void Marian::readTask(const ModelConfig &config) {
  constexpr MarianTask tasks[] = {MarianTask::Words, MarianTask::Words, MarianTask::Text, MarianTask::Tokens};
  if (variant.classStart < 0)
    task = tasks[config.head({"MTModel", "ForConditionalGeneration"})];
  else
    task = tasks[config.head(
        {"MTModel", "ForConditionalGeneration", "ForSequenceClassification", "ForQuestionAnswering"})];
  if (task == MarianTask::Words)
    return;
  labels = task == MarianTask::Text ? config.labels() : std::vector<std::string>{"start", "end"};
  startToken = config.startToken(variant.classStart);
  endToken = config.endToken(variant.classStart);
  if (startToken >= vocabulary)
    config.invalid("vocab_size", "has no token that begins the text of the decoder");
}

void Marian::readVocabulary(const ModelConfig &config) {
  sourceVocabulary = vocabulary = config.integer(variant.sourceKey, variant.vocabulary, ModelConfig::size);
  if (variant.targetKey) {
    vocabulary = config.integer(variant.targetKey, variant.vocabulary, ModelConfig::size);
    sharedEmbedding = false;
  }
  if (!variant.options)
    return;
  vocabulary = config.integerOrNull("decoder_vocab_size", {}, ModelConfig::size).value_or(sourceVocabulary);
  sharedEmbedding = config.flag("share_encoder_decoder_embeddings", true);
  if (sharedEmbedding && vocabulary != sourceVocabulary)
    config.invalid("decoder_vocab_size", "differs from vocab_size, but share_encoder_decoder_embeddings is true");
}

void Marian::readOptions(const ModelConfig &config) {
  normBefore = config.flag("normalize_before", false);
  normEmbedding = config.flag("normalize_embedding", false);
  normEnd = config.flag("add_final_layer_norm", normBefore);
  if (!config.flag("static_position_embeddings", true))
    config.unsupported("static_position_embeddings", "is false; talc knows the family with sinusoidal positions");
}

// Old files of the relatives have Marian's options, of which later versions of transformers read none.
void Marian::checkOptions(const ModelConfig &config) const {
  const std::pair<const char *, bool> options[] = {
      {"normalize_before", normBefore},
      {"add_final_layer_norm", normEnd},
      {"normalize_embedding", normEmbedding},
      {"static_position_embeddings", variant.positions != MarianPositions::Learned}};
  for (auto [key, value] : options)
    if (config.has(key) && config.flag(key, value) != value)
      config.unsupported(key,
                         std::string("is ") + (value ? "false" : "true") + ", unlike in the family as talc knows it");
}

Tensor Marian::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  constexpr double epsilon = 1e-5;
  return g.layerNorm(x, name, epsilon);
}

Tensor Marian::residual(GraphBuilder &g, Tensor x, const std::string &name,
                        const std::function<Tensor(Tensor)> &part) const {
  if (normBefore)
    return g.add(x, part(norm(g, x, name)));
  return norm(g, g.add(x, part(x)), name);
}

Tensor Marian::linear(GraphBuilder &g, Tensor x, const std::string &name) const {
  Weight matrix = g.weight(name + ".weight", {width, width}, "d_model by d_model");
  return g.linear(x, matrix, variant.attentionBias ? g.weight(name + ".bias", {width}) : Weight());
}

Tensor Marian::selfAttention(GraphBuilder &g, Tensor x, int64_t heads, Mask mask, int64_t layer) const {
  return residual(g, x, "self_attn_layer_norm", [&](Tensor x) {
    const MarianAttention names = mask == Mask::Full ? variant.encoderAttention : MarianAttention();
    Tensor queries = linear(g, x, names.query), keys = linear(g, x, names.key), values = linear(g, x, names.value);
    const bool hasWindow = mask == Mask::Full && !variant.windows.empty();
    const Attention kind = {heads, heads, scale(heads), mask, hasWindow ? variant.windows[layer] : 0};
    Tensor mixed =
        mask == Mask::Full ? g.attention(queries, keys, values, kind) : g.cachedAttention(queries, keys, values, kind);
    return linear(g, mixed, names.output);
  });
}

Tensor Marian::crossAttention(GraphBuilder &g, Tensor x, Tensor memory) const {
  return residual(g, x, "encoder_attn_layer_norm", [&](Tensor x) {
    Tensor queries = linear(g, x, "encoder_attn.q_proj");
    const Attention kind = {decoder.heads, decoder.heads, scale(decoder.heads), Mask::Full};
    auto attend = [&] {
      Tensor keys = linear(g, memory, "encoder_attn.k_proj"), values = linear(g, memory, "encoder_attn.v_proj");
      return g.attention(queries, keys, values, kind);
    };
    return linear(g, memory ? attend() : g.crossAttention(queries, source(g), kind), "encoder_attn.out_proj");
  });
}

Tensor Marian::feedForward(GraphBuilder &g, Tensor x, int64_t inner) const {
  return residual(g, x, "final_layer_norm", [&](Tensor x) {
    return g.linear(g.activation(g.linear(x, "fc1", inner), activation), "fc2", width);
  });
}

Tensor Marian::places(GraphBuilder &g, const MarianStack &stack) const {
  const int64_t learnedFirst = variant.learnedFirst;
  Weight table;
  switch (variant.positions) {
  case MarianPositions::Sinusoids:
    return g.position(g.sinusoids(width, Sinusoids::Halves));
  case MarianPositions::Learned:
    table = g.weight(stack.place + "embed_positions.weight",
                     {(&stack == &encoder ? positions : targetPositions) + learnedFirst, width},
                     std::string(&stack == &encoder ? variant.positionsKey : variant.targetPositionsKey) +
                         (learnedFirst ? " + 2" : "") + " by d_model");
    return g.position(table, learnedFirst);
  case MarianPositions::Counted:  // padding is not generated
    table = g.sinusoids(width, Sinusoids::Spread, padding + 1);
    return &stack == &encoder ? g.position(table, padding + 1, padding) : g.position(table, padding + 1);
  }
  return {};
}

Tensor Marian::begin(GraphBuilder &g, const MarianStack &stack, Tensor x) const {
  if (scaledEmbedding)
    x = g.scale(x, std::sqrt(static_cast<double>(width)));
  const std::string name = stack.place + "layernorm_embedding";
  if (variant.normTargets && &stack == &decoder)
    return g.add(norm(g, x, name), places(g, stack));
  x = g.add(x, places(g, stack));
  return normEmbedding ? norm(g, x, name) : x;
}

Tensor Marian::end(GraphBuilder &g, const MarianStack &stack, Tensor x) const {
  return normEnd ? norm(g, x, stack.place + variant.lastNorm) : x;
}

Tensor Marian::encode(GraphBuilder &g, Weight table) const {
  Tensor x = begin(g, encoder, g.embedding(table));
  x = g.repeat(encoder.place + "layers", encoder.layers, x, [&](Tensor x, int64_t layer) {
    return feedForward(g, selfAttention(g, x, encoder.heads, Mask::Full, layer), encoder.inner);
  });
  return end(g, encoder, x);
}

// Keys and values of cross-attention, for every layer of the decoder.
void Marian::keepSource(GraphBuilder &g, Tensor memory) const {
  g.each(decoder.place + "layers", decoder.layers, [&](int64_t) {
    Tensor keys = linear(g, memory, "encoder_attn.k_proj");
    g.kvAppend(source(g), keys, linear(g, memory, "encoder_attn.v_proj"));
  });
}

Tensor Marian::decode(GraphBuilder &g, Tensor x, Tensor memory) const {
  x = g.repeat(decoder.place + "layers", decoder.layers, begin(g, decoder, x), [&](Tensor x, int64_t layer) {
    x = crossAttention(g, selfAttention(g, x, decoder.heads, Mask::Causal, layer), memory);
    return feedForward(g, x, decoder.inner);
  });
  return end(g, decoder, g.select(x));
}

// Version 5 of transformers saves three tables if none are tied, of which nothing uses the shared one.
Marian::TableNames Marian::tableNames(GraphBuilder &g) const {
  const std::string shared = variant.base + "shared.weight";
  const std::string source = encoder.place + "embed_tokens.weight", target = decoder.place + "embed_tokens.weight";
  if (!sharedEmbedding)
    return {source, target};
  if (!tied)
    return {g.storedName({source, shared}, /*areTied=*/false), g.storedName({target, shared}, /*areTied=*/false)};
  const std::string common = g.storedName({shared, source, target});
  return {common, common};
}

void Marian::define(GraphBuilder &g) const {
  int64_t count = std::min(positions, targetPositions);
  if (variant.usedPositions > 0)
    count = std::min(count, variant.usedPositions);
  g.positions(count, /*hard=*/variant.positions == MarianPositions::Learned || variant.usedPositions > 0);
  task == MarianTask::Words ? defineWords(g, tableNames(g)) : defineClasses(g, tableNames(g));
}

void Marian::defineWords(GraphBuilder &g, const TableNames &names) const {
  auto [table, head] = g.tiedWeights(names.target, variant.head + ".weight", {vocabulary, width}, tied);
  Weight sourceTable =
      names.source == names.target ? table : g.weight(names.source, {sourceVocabulary, width}, "vocab_size by d_model");
  g.encoder([&] { keepSource(g, encode(g, sourceTable)); });
  Tensor x = decode(g, g.embedding(table), {});
  const char *bias = "final_logits_bias";
  g.output(g.linear(x, head, g.has(bias) ? g.flatWeight(bias, {1, vocabulary}) : Weight()));
}

void Marian::defineClasses(GraphBuilder &g, const TableNames &names) const {
  g.useAsEmbedder();
  Weight table = g.weight(names.target, {vocabulary, width}, "vocab_size by d_model");
  Weight sourceTable = names.source == names.target ? table : g.weight(names.source, {sourceVocabulary, width});
  Tensor x = decode(g, shiftedEmbedding(g, table, startToken, vocabulary, decoder.heads), encode(g, sourceTable));
  outputClasses(g, x, labels, task == MarianTask::Text, endToken);
}

}  // namespace talc
