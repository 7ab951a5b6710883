// SPDX-License-Identifier: Apache-2.0
// Marian (Junczys-Dowmunt et al. 2018): the encoder-decoder of Vaswani et al. 2017 with fixed sinusoidal positions,
// layer norm after each part (or before, as an option), a bias at every projection and at the logits. Its relatives
// BART (arXiv 1910.13461), mBART (arXiv 2001.08210), Pegasus (arXiv 1912.08777) and M2M-100 (arXiv 2010.11125; NLLB)
// differ in positions and norms.
#include "frontends/families/Families.h"
#include "frontends/families/MarianModel.h"

namespace talc {

static void define(GraphBuilder &g, const ModelConfig &config, const MarianVariant &variant) {
  Marian model(config, variant);
  if (!config.failed())
    model.define(g);
}

void defineMarian(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.vocabulary = 58101;
  variant.options = true;
  define(g, config, variant);
}

void defineBart(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.positions = MarianPositions::Learned;
  variant.normEmbedding = true;
  variant.classStart = 2;
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
  MarianVariant variant;
  variant.vocabulary = 50005;
  variant.positions = MarianPositions::Learned;
  variant.normEmbedding = variant.scaledEmbedding = true;
  define(g, config, variant);
}

// Blenderbot (arXiv 2004.13637).
void defineBlenderbot(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.vocabulary = 8008;
  variant.positions = MarianPositions::Learned;
  variant.learnedFirst = 0;
  variant.normBefore = true;
  define(g, config, variant);
}

// The small one adds positions to normalized embeddings in the decoder.
void defineBlenderbotSmall(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.positions = MarianPositions::Learned;
  variant.learnedFirst = 0;
  variant.normEmbedding = variant.normTargets = true;
  define(g, config, variant);
}

void defineMbart(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.positions = MarianPositions::Learned;
  variant.normBefore = variant.normEmbedding = true;
  define(g, config, variant);
}

void definePegasus(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.normBefore = true;
  define(g, config, variant);
}

// FSMT (arXiv 1907.06616): two vocabularies, positions that pass over padding.
void defineFsmt(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.vocabulary = 42024;
  variant.sourceKey = "src_vocab_size";
  variant.targetKey = "tgt_vocab_size";
  variant.positions = MarianPositions::Counted;
  variant.activation = "relu";
  variant.scaledEmbedding = true;
  variant.tied = false;
  variant.head = "model.decoder.output_projection";
  config.passOver({"langs", "vocab_size", "num_hidden_layers"});
  define(g, config, variant);
}

// BigBird's Pegasus. Blocks serve sources that are longer than a few of them; shorter ones see all of themselves.
void defineBigBirdPegasus(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.vocabulary = 96103;
  variant.layers = 16;
  variant.positions = MarianPositions::Learned;
  variant.learnedFirst = 0;
  variant.activation = "gelu_new";
  variant.scaledEmbedding = variant.normBefore = true;
  variant.lastNorm = "layernorm_embedding";
  variant.encoderAttention = {"self_attn.self.query", "self_attn.self.key", "self_attn.self.value", "self_attn.output"};
  variant.attentionBias = config.flag("use_bias", false);
  variant.usedPositions = config.denseBlockTokens().value_or(0);
  define(g, config, variant);
}

// LED (arXiv 2004.05150): BART with windows in the encoder, and without tokens that see all others.
void defineLed(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.base = "led.";
  variant.positions = MarianPositions::Learned;
  variant.learnedFirst = 0;
  variant.positionsKey = "max_encoder_position_embeddings";
  variant.targetPositionsKey = "max_decoder_position_embeddings";
  variant.positionCount = 16384;
  variant.normEmbedding = true;
  const std::string place = "self_attn.longformer_self_attn.";
  variant.encoderAttention = {place + "query", place + "key", place + "value", "self_attn.output"};
  variant.windows = config.windows("attention_window", 512,
                                   config.integer("encoder_layers", variant.layers, ModelConfig::layerCount));
  config.passOver({"attention_probs_dropout_prob"});
  define(g, config, variant);
}

void defineM2m100(GraphBuilder &g, const ModelConfig &config) {
  MarianVariant variant;
  variant.vocabulary = 128112;
  variant.positions = MarianPositions::Counted;
  variant.activation = "relu";
  variant.scaledEmbedding = true;
  variant.normBefore = true;
  define(g, config, variant);
}

}  // namespace talc
