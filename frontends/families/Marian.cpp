// SPDX-License-Identifier: Apache-2.0
// Marian (Junczys-Dowmunt et al. 2018): the encoder-decoder of Vaswani et al. 2017 with fixed sinusoidal positions,
// layer norm after each part (or before, as an option), a bias at every projection and at the logits. Its relatives
// BART (arXiv 1910.13461), mBART (arXiv 2001.08210), Pegasus (arXiv 1912.08777) and M2M-100 (arXiv 2010.11125; NLLB)
// differ in positions and norms.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"

#include <cmath>

namespace talc {

namespace {

// Learned: rows of a table. Counted: sinusoids that take no account of padding.
enum class Positions { Sinusoids, Learned, Counted };

// The differences between the variants; numbers are default values of the configuration.
struct Variant {
  int64_t vocabulary = 50265, padding = 1;
  Positions positions = Positions::Sinusoids;
  const char *activation = "gelu";
  bool scaledEmbedding = false;
  int64_t learnedFirst = 2;  // the row of the first learned position
  bool normBefore = false, normEmbedding = false;
  bool normTargets = false;  // the decoder adds positions behind that norm
  bool options = false;      // keys of versions before 4 of transformers, in which Marian shared its code with BART
};

// The encoder or the decoder.
struct Stack {
  Stack(const ModelConfig &config, const std::string &name, int64_t width);

  std::string place;  // of its tensors
  int64_t layers, heads, inner;
};

struct Marian {
  Marian(const ModelConfig &config, const Variant &variant);
  void readVocabulary(const ModelConfig &config);
  void readOptions(const ModelConfig &config);
  void checkOptions(const ModelConfig &config) const;
  // The names of the encoder's and of the decoder's table.
  struct TableNames {
    std::string source, target;
  };

  TableNames tableNames(GraphBuilder &g) const;
  void define(GraphBuilder &g) const;
  Tensor begin(GraphBuilder &g, const Stack &stack, Weight table) const;
  Tensor places(GraphBuilder &g, const Stack &stack) const;
  Tensor end(GraphBuilder &g, const Stack &stack, Tensor x) const;
  Tensor encode(GraphBuilder &g, Weight table) const;
  void keepSource(GraphBuilder &g, Tensor memory) const;
  Tensor decode(GraphBuilder &g, Weight table) const;
  KvCache source(GraphBuilder &g) const { return g.sourceKvCache("source", decoder.heads, width / decoder.heads); }
  Tensor selfAttention(GraphBuilder &g, Tensor x, int64_t heads, Mask mask) const;
  Tensor crossAttention(GraphBuilder &g, Tensor x) const;
  Tensor feedForward(GraphBuilder &g, Tensor x, int64_t inner) const;
  // x + part(norm(x)) or norm(x + part(x)).
  template <typename Part> Tensor residual(GraphBuilder &g, Tensor x, const std::string &name, Part part) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;
  double scale(int64_t heads) const { return 1 / std::sqrt(static_cast<double>(width / heads)); }

  Variant variant;
  int64_t width, positions, padding, sourceVocabulary, vocabulary;
  Stack encoder, decoder;
  Activation activation;
  bool scaledEmbedding, sharedEmbedding = true, tied, normBefore, normEmbedding, normEnd;
};

}  // namespace

Stack::Stack(const ModelConfig &config, const std::string &name, int64_t width) : place("model." + name + ".") {
  const std::string headsKey = name + "_attention_heads";
  layers = config.integer((name + "_layers").c_str(), 12, ModelConfig::layerCount);
  heads = config.integer(headsKey.c_str(), 16, ModelConfig::headCount);
  inner = config.integer((name + "_ffn_dim").c_str(), 4096, ModelConfig::size);
  config.requireDivides(headsKey.c_str(), heads, "d_model", width);
}

Marian::Marian(const ModelConfig &config, const Variant &variant)
    : variant(variant), width(config.integer("d_model", 1024, ModelConfig::size)), encoder(config, "encoder", width),
      decoder(config, "decoder", width) {
  config.head({"MTModel", "ForConditionalGeneration"});
  positions = config.integer("max_position_embeddings", 1024, ModelConfig::positionCount);
  activation = config.activation("activation_function", variant.activation);
  scaledEmbedding = config.flag("scale_embedding", variant.scaledEmbedding);
  tied = config.flag("tie_word_embeddings", true);
  normBefore = normEnd = variant.normBefore;
  normEmbedding = variant.normEmbedding;
  padding = variant.padding;
  if (variant.positions == Positions::Counted)
    padding = config.integer("pad_token_id", padding, {0, ModelConfig::size.maximum});
  readVocabulary(config);
  if (variant.options)
    readOptions(config);
  else
    checkOptions(config);
}

void Marian::readVocabulary(const ModelConfig &config) {
  sourceVocabulary = vocabulary = config.integer("vocab_size", variant.vocabulary, ModelConfig::size);
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
      {"static_position_embeddings", variant.positions != Positions::Learned}};
  for (auto [key, value] : options)
    if (config.has(key) && config.flag(key, value) != value)
      config.unsupported(key,
                         std::string("is ") + (value ? "false" : "true") + ", unlike in the family as talc knows it");
  config.passOver({"add_bias_logits"});
}

Tensor Marian::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  constexpr double epsilon = 1e-5;
  return g.layerNorm(x, name, epsilon);
}

template <typename Part> Tensor Marian::residual(GraphBuilder &g, Tensor x, const std::string &name, Part part) const {
  if (normBefore)
    return g.add(x, part(norm(g, x, name)));
  return norm(g, g.add(x, part(x)), name);
}

Tensor Marian::selfAttention(GraphBuilder &g, Tensor x, int64_t heads, Mask mask) const {
  return residual(g, x, "self_attn_layer_norm", [&](Tensor x) {
    Tensor queries = g.linear(x, "self_attn.q_proj", width);
    Tensor keys = g.linear(x, "self_attn.k_proj", width);
    Tensor values = g.linear(x, "self_attn.v_proj", width);
    const Attention kind = {heads, heads, scale(heads), mask};
    Tensor mixed =
        mask == Mask::Full ? g.attention(queries, keys, values, kind) : g.cachedAttention(queries, keys, values, kind);
    return g.linear(mixed, "self_attn.out_proj", width);
  });
}

Tensor Marian::crossAttention(GraphBuilder &g, Tensor x) const {
  return residual(g, x, "encoder_attn_layer_norm", [&](Tensor x) {
    Tensor queries = g.linear(x, "encoder_attn.q_proj", width);
    Tensor mixed = g.crossAttention(queries, source(g), {decoder.heads, decoder.heads, scale(decoder.heads)});
    return g.linear(mixed, "encoder_attn.out_proj", width);
  });
}

Tensor Marian::feedForward(GraphBuilder &g, Tensor x, int64_t inner) const {
  return residual(g, x, "final_layer_norm", [&](Tensor x) {
    return g.linear(g.activation(g.linear(x, "fc1", inner), activation), "fc2", width);
  });
}

Tensor Marian::places(GraphBuilder &g, const Stack &stack) const {
  const int64_t learnedFirst = variant.learnedFirst;
  Weight table;
  switch (variant.positions) {
  case Positions::Sinusoids:
    return g.position(g.sinusoids(width, Sinusoids::Halves));
  case Positions::Learned:
    table = g.weight(stack.place + "embed_positions.weight", {positions + learnedFirst, width},
                     "max_position_embeddings" + std::string(learnedFirst ? " + 2" : "") + " by d_model");
    return g.position(table, learnedFirst);
  case Positions::Counted:  // padding is not generated
    table = g.sinusoids(width, Sinusoids::Spread, padding + 1);
    return &stack == &encoder ? g.position(table, padding + 1, padding) : g.position(table, padding + 1);
  }
  return {};
}

Tensor Marian::begin(GraphBuilder &g, const Stack &stack, Weight table) const {
  Tensor x = g.embedding(table);
  if (scaledEmbedding)
    x = g.scale(x, std::sqrt(static_cast<double>(width)));
  const std::string name = stack.place + "layernorm_embedding";
  if (variant.normTargets && &stack == &decoder)
    return g.add(norm(g, x, name), places(g, stack));
  x = g.add(x, places(g, stack));
  return normEmbedding ? norm(g, x, name) : x;
}

Tensor Marian::end(GraphBuilder &g, const Stack &stack, Tensor x) const {
  return normEnd ? norm(g, x, stack.place + "layer_norm") : x;
}

Tensor Marian::encode(GraphBuilder &g, Weight table) const {
  Tensor x = g.repeat(encoder.place + "layers", encoder.layers, begin(g, encoder, table), [&](Tensor x, int64_t) {
    return feedForward(g, selfAttention(g, x, encoder.heads, Mask::Full), encoder.inner);
  });
  return end(g, encoder, x);
}

// Keys and values of cross-attention, for every layer of the decoder.
void Marian::keepSource(GraphBuilder &g, Tensor memory) const {
  g.each(decoder.place + "layers", decoder.layers, [&](int64_t) {
    Tensor keys = g.linear(memory, "encoder_attn.k_proj", width);
    g.kvAppend(source(g), keys, g.linear(memory, "encoder_attn.v_proj", width));
  });
}

Tensor Marian::decode(GraphBuilder &g, Weight table) const {
  Tensor x = g.repeat(decoder.place + "layers", decoder.layers, begin(g, decoder, table), [&](Tensor x, int64_t) {
    x = crossAttention(g, selfAttention(g, x, decoder.heads, Mask::Causal));
    return feedForward(g, x, decoder.inner);
  });
  return end(g, decoder, g.select(x));
}

// Version 5 of transformers saves three tables if none are tied, of which nothing uses the shared one.
Marian::TableNames Marian::tableNames(GraphBuilder &g) const {
  const std::string shared = "model.shared.weight";
  const std::string source = encoder.place + "embed_tokens.weight", target = decoder.place + "embed_tokens.weight";
  if (!sharedEmbedding)
    return {source, target};
  if (!tied)
    return {g.storedName({source, shared}, /*areTied=*/false), g.storedName({target, shared}, /*areTied=*/false)};
  const std::string common = g.storedName({shared, source, target});
  return {common, common};
}

void Marian::define(GraphBuilder &g) const {
  g.positions(positions, /*hard=*/variant.positions == Positions::Learned);
  const TableNames names = tableNames(g);
  auto [table, head] = g.tiedWeights(names.target, "lm_head.weight", {vocabulary, width}, tied);
  Weight sourceTable =
      names.source == names.target ? table : g.weight(names.source, {sourceVocabulary, width}, "vocab_size by d_model");
  g.encoder([&] { keepSource(g, encode(g, sourceTable)); });
  Tensor x = decode(g, table);
  const char *bias = "final_logits_bias";
  g.output(g.linear(x, head, g.has(bias) ? g.flatWeight(bias, {1, vocabulary}) : Weight()));
}

static void define(GraphBuilder &g, const ModelConfig &config, const Variant &variant) {
  Marian model(config, variant);
  if (!config.failed())
    model.define(g);
}

void defineMarian(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.vocabulary = 58101;
  variant.options = true;
  define(g, config, variant);
}

void defineBart(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.positions = Positions::Learned;
  variant.normEmbedding = true;
  define(g, config, variant);
}

// MVP (arXiv 2206.12131): BART, with prompts that talc does not compute.
void defineMvp(GraphBuilder &g, const ModelConfig &config) {
  config.refuseFlag("use_prompt", "talc knows the family without prompts");
  config.passOver({"prompt_length", "prompt_mid_dim"});
  defineBart(g, config);
}

// PLBart (arXiv 2103.06333).
void definePlBart(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.vocabulary = 50005;
  variant.positions = Positions::Learned;
  variant.normEmbedding = variant.scaledEmbedding = true;
  define(g, config, variant);
}

// Blenderbot (arXiv 2004.13637).
void defineBlenderbot(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.vocabulary = 8008;
  variant.positions = Positions::Learned;
  variant.learnedFirst = 0;
  variant.normBefore = true;
  define(g, config, variant);
}

// The small one adds positions to normalized embeddings in the decoder.
void defineBlenderbotSmall(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.positions = Positions::Learned;
  variant.learnedFirst = 0;
  variant.normEmbedding = variant.normTargets = true;
  define(g, config, variant);
}

void defineMbart(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.positions = Positions::Learned;
  variant.normBefore = variant.normEmbedding = true;
  define(g, config, variant);
}

void definePegasus(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.normBefore = true;
  define(g, config, variant);
}

void defineM2m100(GraphBuilder &g, const ModelConfig &config) {
  Variant variant;
  variant.vocabulary = 128112;
  variant.positions = Positions::Counted;
  variant.activation = "relu";
  variant.scaledEmbedding = true;
  variant.normBefore = true;
  define(g, config, variant);
}

}  // namespace talc
