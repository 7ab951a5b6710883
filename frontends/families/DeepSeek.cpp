// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V2 (arXiv 2405.04434) and V3 (arXiv 2412.19437): latent attention, and experts in groups beside some that
// every token passes.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/LatentAttention.h"
#include "frontends/families/decoder/MoeConfig.h"

namespace talc {

// Attention, which has one key for all heads, and what it needs of positions.
static LatentAttention readAttention(Decoder &d) {
  const ModelConfig &config = d.config;
  if (d.attention.infini)
    config.unsupported("infini_attention", "is for attention whose heads have keys of their own");
  LatentAttention attention;
  attention.readWidths(config);
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
  DeepSeekMoeDefaults defaults = {64, {}, 1407, 0, 2, 1.0};
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
void defineDeepSeek3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 129280,
                     .width = 7168,
                     .inner = 18432,
                     .layers = 61,
                     .heads = 128,
                     .positions = 4096,
                     .headWidth = 64});
  LatentAttention attention = readAttention(d);
  attention.interleaved = config.flag("rope_interleave", true);
  DeepSeekMoeDefaults defaults = {256, 8, 2048, 3, 1, 2.5};
  MoeLayer moe = readDeepSeekMoe(d, defaults);
  readBiasedRouting(moe, config, 8, 4);
  d.otherAttention = attention;
  useDeepSeekMoe(d, moe, defaults);
  d.define(g);
}

}  // namespace talc
