// SPDX-License-Identifier: Apache-2.0
// Qwen3-Next and Qwen3.5: Qwen3 with gated delta nets for attention in three layers of four, and a gate for each
// feature of attention in the others. OLMo-hybrid: OLMo 2 with gated delta nets in three layers of four.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/GatedDelta.h"
#include "frontends/families/decoder/MoeConfig.h"

#include <set>

namespace talc {

static DecoderDefaults nextSizes(int64_t width, int64_t inner, int64_t layers, int64_t keyValueHeads) {
  DecoderDefaults sizes;
  sizes.vocabulary = 248320;
  sizes.width = width;
  sizes.inner = inner;
  sizes.layers = layers;
  sizes.heads = 16;
  sizes.positions = 32768;
  sizes.keyValueHeads = keyValueHeads;
  sizes.headWidth = 256;
  sizes.rope.share = 0.25;
  sizes.rope.hasShare = true;
  return sizes;
}

static void readNext(Decoder &d, GatedDelta::Packing packing) {
  const ModelConfig &config = d.config;
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.norm.isFromOne = true;
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.attention.projections.hasGates = true;
  d.readStateLayers({"linear_attention"},
                    exceptEvery(config.integer("full_attention_interval", 4, ModelConfig::layerCount)));
  d.readRopes();
  GatedDelta mixer;
  mixer.packing = packing;
  mixer.epsilon = d.norm.epsilon;
  mixer.read(config, 16, 32, 128, 128);
  // For texts, the three positions of a token are one; heads that predict several tokens are left out.
  config.passOver({"mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "mamba_ssm_dtype"});
  config.passOverFlag("attn_output_gate", true);
  d.replaceAttention(mixer);
}

static MoeLayer readNextMoe(const Decoder &d, int64_t experts, int64_t perToken) {
  MoeLayer moe = readQwenMoe(d, {.experts = experts, .perToken = perToken, .inner = 512, .isNormalized = true});
  moe.shared = d.feedForward.at("mlp.shared_expert",
                                d.config.integer("shared_expert_intermediate_size", 512, ModelConfig::size));
  moe.shared->why = "shared_expert_intermediate_size";
  moe.sharedGate = "mlp.shared_expert_gate";
  return moe;
}

void defineQwen3Next(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = nextSizes(2048, 5632, 48, 2);
  sizes.vocabulary = 151936;
  Decoder d(config, sizes);
  readNext(d, GatedDelta::Packing::ByKeyHead);
  int64_t step = config.integer("decoder_sparse_step", 1, ModelConfig::layerCount);
  std::set<int64_t> dense;
  for (double layer : config.numbers("mlp_only_layers"))
    dense.insert(static_cast<int64_t>(layer));
  d.replaceFeedForward([=](int64_t layer) { return (layer + 1) % step == 0 && dense.count(layer) == 0; },
                       readNextMoe(d, 512, 10));
  d.define(g);
}

void defineQwen35(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, nextSizes(4096, 12288, 32, 4));
  readNext(d, GatedDelta::Packing::InOrder);
  d.define(g);
}

void defineQwen35Moe(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = nextSizes(2048, 0, 40, 2);
  sizes.keys.inner = nullptr;
  Decoder d(config, sizes);
  readNext(d, GatedDelta::Packing::InOrder);
  d.replaceFeedForward(inEveryLayer(), readNextMoe(d, 256, 8));
  d.define(g);
}

// The last layer attends if no other would.
static LayerRule usualOlmoLayers(int64_t layers) {
  return [=](int64_t layer) { return layer % 4 != 3 && (layers > 3 || layer != layers - 1); };
}

void defineOlmoHybrid(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 100352, .width = 3840, .heads = 30, .positions = 65536});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::AllHeads);
  d.readStateLayers({"linear_attention"}, usualOlmoLayers(d.layers));
  if (!config.isNull("rope_theta"))
    d.readRopes();
  GatedDelta mixer;
  mixer.packing = GatedDelta::Packing::Apart;
  mixer.norm = "o_norm";
  mixer.output = "o_proj";
  mixer.epsilon = 1e-5;
  int64_t heads = d.attention.sizes.heads,
          keyHeads = config.integerOrNull("linear_num_key_heads", heads, ModelConfig::headCount).value_or(heads);
  int64_t keyWidth = 3 * d.width / (4 * keyHeads);
  keyWidth = config.integerOrNull("linear_key_head_dim", keyWidth, ModelConfig::headCount).value_or(keyWidth);
  mixer.read(config, heads, heads, keyWidth, 2 * keyWidth);
  mixer.betaFactor = config.flag("linear_allow_neg_eigval", true) ? 2 : 1;
  config.passOver({"linear_a_log_min", "linear_a_log_max", "linear_dt_min", "linear_dt_max", "linear_dt_init_floor"});
  d.replaceAttention(mixer);
  d.stateless.emplace(PartNorms{{}, "post_attention_layernorm", {}}, PartNorms{{}, "post_feedforward_layernorm", {}});
  d.attentionNorms.input = "attention_layer_norm";
  d.innerNorms.input = "feedforward_layer_norm";
  d.define(g);
}

}  // namespace talc
