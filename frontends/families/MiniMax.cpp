// SPDX-License-Identifier: Apache-2.0
// MiniMax-M2: Mixtral with sigmoid routing, norms of all queries and all keys, and turns of a part of each head.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

namespace talc {

void defineMiniMaxM2(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults defaults = {.vocabulary = 200064,
                              .width = 3072,
                              .inner = 1536,
                              .layers = 62,
                              .heads = 48,
                              .positions = 196608,
                              .keyValueHeads = 8,
                              .headWidth = 128,
                              .rope = {.theta = 5000000, .hasShare = true}};
  // rotary_dim says the same as partial_rotary_factor.
  if (config.has("rotary_dim"))
    defaults.rope.share = static_cast<double>(config.integer("rotary_dim", 64, ModelConfig::headCount)) /
                          static_cast<double>(config.integer("head_dim", 128, ModelConfig::headCount));
  Decoder d(config, defaults);
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  if (config.flag("use_qk_norm", true))
    d.useHeadNorms(HeadNorms::Scale::AllHeads);
  if (config.text("qk_norm_type", "per_layer") != "per_layer")
    config.unsupported("qk_norm_type", "talc knows norms of all heads at once (per_layer)");
  for (double kind : config.numbers("attn_type_list"))
    if (kind != 1)
      config.unsupported("attn_type_list", "talc knows softmax attention (1)");
  if (config.integer("shared_intermediate_size", 0, {0, ModelConfig::size.maximum}) > 0)
    config.unsupported("shared_intermediate_size", "talc knows the family without shared experts");
  // These keys are of other layers, and of heads that predict several tokens.
  config.passOver({"layernorm_full_attention_beta", "layernorm_linear_attention_beta", "layernorm_mlp_beta",
                   "mlp_intermediate_size", "mtp_transformer_layers", "num_mtp_modules", "shared_moe_mode", "use_mtp",
                   "use_routing_bias"});
  if (config.text("scoring_func", "sigmoid") != "sigmoid")
    config.unsupported("scoring_func", "the family has sigmoid");
  d.readRopes();
  MoeLayer moe;
  moe.readCounts(config, "num_local_experts", 256, 8);
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.useMixtralNames();
  moe.scores = MoeLayer::Scores::Sigmoid;
  moe.selectionBias = "block_sparse_moe.e_score_correction_bias";
  d.replaceFeedForward(inEveryLayer(), moe);
  d.define(g);
}

}  // namespace talc
