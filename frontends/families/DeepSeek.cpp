// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V2 (arXiv 2405.04434) and V3 (arXiv 2412.19437): latent attention, and experts in groups beside some that
// every token passes; and families that have the same attention.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/LatentAttention.h"
#include "frontends/families/decoder/MoeConfig.h"

#include <cmath>

namespace talc {

// Attention, which has one key for all heads, and what it needs of positions.
static LatentAttention readAttention(Decoder &d, const LatentWidths &widths = {}) {
  const ModelConfig &config = d.config;
  if (d.attention.infini)
    config.unsupported("infini_attention", "is for attention whose heads have keys of their own");
  LatentAttention attention;
  attention.readWidths(config, widths);
  attention.heads = d.attention.sizes.heads;
  attention.inputBias = attention.outputBias = config.flag("attention_bias", false);
  config.refuseFlag("mlp_bias", "the family has none");
  d.attention.sizes.width = attention.turned;
  d.readRopes();
  attention.ropes = d.attention.ropes;
  attention.readScale(config);
  return attention;
}

void defineDeepSeek2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.headWidth = 64});  // of its own, whatever the configuration says
  LatentAttention attention = readAttention(d);
  DeepSeekMoeDefaults defaults = {
      .experts = 64, .perToken = {}, .inner = 1407, .denseLayers = 0, .shared = 2, .factor = 1.0};
  MoeLayer moe = readDeepSeekMoe(d, defaults);
  moe.routing.normalized = false;
  config.refuseFlag("norm_topk_prob", "programs differ in what it means beside routed_scaling_factor");
  std::string method = config.text("topk_method", "greedy");
  if (method == "group_limited_greedy")
    moe.readGroups(config, {}, {});
  else if (method != "greedy")
    config.unsupported("topk_method", "talc knows greedy and group_limited_greedy");
  if (config.text("scoring_func", "softmax") != "softmax")
    config.unsupported("scoring_func", "the family has softmax");
  d.otherAttention = attention;
  useDeepSeekMoe(d, moe, defaults);
  d.define(g);
}

// Experts are selected by their score and a bias, which balances their load.
static void defineLikeV3(Decoder &d, GraphBuilder &g, const LatentWidths &widths, const DeepSeekMoeDefaults &defaults,
                         int64_t groups, int64_t topGroups) {
  LatentAttention attention = readAttention(d, widths);
  attention.interleaved = d.config.flag("rope_interleave", true);
  MoeLayer moe = readDeepSeekMoe(d, defaults);
  readBiasedRouting(moe, d.config, groups, topGroups);
  d.otherAttention = attention;
  useDeepSeekMoe(d, moe, defaults);
  d.define(g);
}

void defineDeepSeek3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 129280,
                     .width = 7168,
                     .inner = 18432,
                     .layers = 61,
                     .heads = 128,
                     .positions = 4096,
                     .headWidth = 64});
  defineLikeV3(d, g, {}, {.experts = 256, .perToken = 8, .inner = 2048, .denseLayers = 3, .shared = 1, .factor = 2.5},
               8, 4);
}

void defineGlm4MoeLite(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 154880,
                     .width = 2048,
                     .inner = 10240,
                     .layers = 47,
                     .heads = 20,
                     .positions = 202752,
                     .headWidth = 64,
                     .epsilon = 1e-5});
  defineLikeV3(d, g, {768, 512, 192, 64, 256},
               {.experts = 64, .perToken = 4, .inner = 1536, .denseLayers = 1, .shared = 1, .factor = 1.8}, 1, 1);
}

void defineSarvamMla(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 262144, .inner = 16384, .heads = 64, .positions = 4096, .headWidth = 64});
  defineLikeV3(d, g, {0, 512, 128, 64, 128},
               {.experts = 128, .perToken = 8, .inner = 2048, .denseLayers = 1, .shared = 1, .factor = 2.5}, 1, 1);
}

// A.X K1: a norm behind the experts.
void defineAxk1(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 163840,
                     .width = 7168,
                     .inner = 18432,
                     .layers = 61,
                     .heads = 64,
                     .positions = 32768,
                     .headWidth = 64});
  DeepSeekMoeDefaults defaults = {
      .experts = 192, .perToken = 8, .inner = 2048, .denseLayers = 1, .shared = 1, .factor = 2.5};
  LatentAttention attention = readAttention(d);
  attention.interleaved = config.flag("rope_interleave", true);
  MoeLayer moe = readDeepSeekMoe(d, defaults);
  readBiasedRouting(moe, config, 8, 4);
  d.otherAttention = attention;
  useDeepSeekMoe(
      d,
      [moe, norm = d.norm](GraphBuilder &g, Tensor x, int64_t layer) {
        return norm.write(g, moe(g, x, layer), "post_mlp_layernorm");
      },
      defaults);
  d.define(g);
}

// Latent attention, and no experts.
void defineYoutu(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128256,
                     .width = 2048,
                     .inner = 6144,
                     .heads = 16,
                     .positions = 131072,
                     .headWidth = 64,
                     .tied = true});
  LatentAttention attention = readAttention(d);
  attention.interleaved = config.flag("rope_interleave", true);
  d.otherAttention = attention;
  d.define(g);
}

// Factors at the embedding, the parts and the logits.
void defineMiniCpm3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 73448,
                     .width = 2560,
                     .inner = 6400,
                     .layers = 62,
                     .heads = 40,
                     .positions = 32768,
                     .headWidth = 32,
                     .epsilon = 1e-5,
                     .tied = true});
  LatentWidths widths = {768, 256, 64, 32, d.width / d.attention.sizes.heads};
  LatentAttention attention = readAttention(d, widths);
  attention.interleaved = false;
  d.otherAttention = attention;
  d.embedding.factor = config.positive("scale_emb", 12);
  d.embedding.isRounded = true;
  double depth = std::sqrt(static_cast<double>(d.layers));
  d.residualFactor = (config.isNull("scale_depth") ? depth : config.positive("scale_depth", 1.4)) / depth;
  auto base = config.integerOrNull("dim_model_base", 256, ModelConfig::size);
  d.head.factor = static_cast<double>(base.value_or(d.width)) / static_cast<double>(d.width);
  d.define(g);
}

}  // namespace talc
