// SPDX-License-Identifier: Apache-2.0
// Gemma (arXiv 2403.08295), Gemma 2 (arXiv 2408.00118) and the text part of Gemma 3 (arXiv 2503.19786): Llama with a
// scaled embedding and norms whose weights are distances from 1; then with norms around each part, caps of scores and
// logits, and windows.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

#include <cmath>

namespace talc {

constexpr DecoderDefaults gemmaSizes = {.vocabulary = 256000,
                                        .width = 3072,
                                        .inner = 24576,
                                        .layers = 28,
                                        .heads = 16,
                                        .positions = 8192,
                                        .keyValueHeads = 16,
                                        .headWidth = 256,
                                        .activation = "gelu_pytorch_tanh",
                                        .tied = true,
                                        .keys = {.activation = "hidden_activation"},
                                        .padding = 0};

static DecoderDefaults gemma2Sizes() {
  DecoderDefaults sizes = gemmaSizes;
  sizes.width = 2304;
  sizes.inner = 9216;
  sizes.layers = 26;
  sizes.heads = 8;
  sizes.keyValueHeads = 4;
  return sizes;
}

// hidden_act says gelu in the first files, but the tanh form was trained; hidden_activation is what later ones say.
static void readActivation(Decoder &d) {
  const char *key = "hidden_act", *newKey = "hidden_activation";
  if (!d.config.has(key) || d.config.text(key, "gelu") == "gelu")
    return;
  Activation activation = d.config.activation(key, "gelu");
  if (d.config.has(newKey) && activation != d.feedForward.activation)
    d.config.invalid(key, "contradicts 'hidden_activation'; one of them must go");
  d.feedForward.activation = activation;
}

// The root is rounded to the type that the table is stored in.
static void readGemma(Decoder &d) {
  readActivation(d);
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.embedding.factor = std::sqrt(static_cast<double>(d.width));
  d.embedding.isRounded = true;
  d.norm.isFromOne = true;
}

void defineGemma(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, gemmaSizes);
  readGemma(d);
  d.readRopes();
  config.refuseFlag("use_bidirectional_attention", "talc knows the family as a decoder");
  d.define(g);
}

// A norm before and one behind each part.
static void readGemma2(Decoder &d, double logitCap) {
  readGemma(d);
  d.attention.scale = 1 / std::sqrt(d.config.positive("query_pre_attn_scalar", 256));
  d.head.cap = d.readCap("final_logit_softcapping", logitCap);
  d.attentionNorms.output = "post_attention_layernorm";
  d.innerNorms = {"pre_feedforward_layernorm", "post_feedforward_layernorm", {}};
}

void defineGemma2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, gemma2Sizes());
  readGemma2(d, 30);
  d.attention.cap = d.readCap("attn_logit_softcapping", 50);
  d.readWindows(d.windowOr(4096), exceptEvery(2));
  d.readRopes();
  config.refuseFlag("use_bidirectional_attention", "talc knows the family as a decoder");
  d.define(g);
}

// No norms behind the parts.
void defineVaultGemma(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, gemma2Sizes());
  readGemma2(d, 30);
  d.attention.cap = d.readCap("attn_logit_softcapping", 50);
  d.attentionNorms.output.clear();
  d.innerNorms.output.clear();
  d.readWindows(d.windowOr(4096), exceptEvery(2));
  d.readRopes();
  d.define(g);
}

// Layers with a window turn by a base of their own, without scaling; queries and keys are normalized head by head.
static void readGemma3(Decoder &d) {
  constexpr ModelConfig::Range patterns{1, ModelConfig::layerCount.maximum};
  const ModelConfig &config = d.config;
  readGemma2(d, 0);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  int64_t every =
      config.integer("sliding_window_pattern", config.integer("_sliding_window_pattern", 6, patterns), patterns);
  auto window = d.windowOr(4096);
  if (config.flag("use_bidirectional_attention", false)) {
    d.attention.mask = Mask::Full;
    if (window)
      window = *window / 2 + 1;
  }
  d.readWindows(window, exceptEvery(every));
  config.passOver({"rope_theta", "rope_scaling", "rope_local_base_freq"});  // of layers that a model may lack
  d.readRopes({.thetaKey = "rope_local_base_freq", .ownScaling = true});
}

void defineGemma3(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = gemma2Sizes();
  sizes.vocabulary = 262208;
  sizes.positions = 131072;
  sizes.rope.theta = 1000000;
  Decoder d(config, sizes);
  readGemma3(d);
  d.define(g);
}

}  // namespace talc
