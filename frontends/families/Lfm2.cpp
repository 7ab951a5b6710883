// SPDX-License-Identifier: Apache-2.0
// LFM2 (arXiv 2511.23404): Llama with gated short convolutions for attention in most layers.
//
//   b, c, v = in_proj(x);  y = out_proj(c * conv(b * v))
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

#include <algorithm>

namespace talc {

namespace {

struct ShortConv {
  int64_t tokens;  // that a feature sees, its own among them
  bool bias;

  Tensor operator()(GraphBuilder &g, Tensor x, int64_t) const {
    int64_t width = x.width();
    Tensor parts = Linear{"conv.in_proj", bias}.write(g, x, 3 * width, "3 * hidden_size by hidden_size");
    auto part = [&](int64_t number) { return g.slice(parts, number * width, width); };
    CausalConv conv = {g.transpose(g.stackedWeight("conv.conv.weight", {width, 1, tokens})),
                       bias ? g.weight("conv.conv.bias", {width}) : Weight()};
    Tensor mixed = g.mul(part(1), g.causalConv(g.mul(part(0), part(2)), conv));
    return Linear{"conv.out_proj", bias}.write(g, mixed, width, "hidden_size by hidden_size");
  }
};

}  // namespace

static const DecoderDefaults lfm2Sizes = {.vocabulary = 65536,
                                          .width = 2560,
                                          .inner = 12288,
                                          .positions = 128000,
                                          .keyValueHeads = 8,
                                          .epsilon = 1e-5,
                                          .tied = true,
                                          .rope = {.theta = 1000000},
                                          .keys = {.epsilon = "norm_eps", .activation = nullptr}};

// Older files list the layers with attention; without a list all have it.
static LayerRule readConvLayers(const ModelConfig &config) {
  if (!config.has("full_attn_idxs"))
    return inNoLayer();
  std::vector<double> attending = config.numbers("full_attn_idxs");
  return [=](int64_t layer) {
    return std::find(attending.begin(), attending.end(), static_cast<double>(layer)) == attending.end();
  };
}

static void readLfm2(Decoder &d) {
  const ModelConfig &config = d.config;
  d.head.isTied = config.flag("tie_embedding", d.head.isTied);
  d.head.norm = "model.embedding_norm";
  d.attentionNorms.input = "operator_norm";
  d.innerNorms.input = "ffn_norm";
  d.attention.projections.nameApart("self_attn.", "_proj", "self_attn.out_proj");
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.attention.norms.query = "self_attn.q_layernorm";
  d.attention.norms.key = "self_attn.k_layernorm";
  d.feedForward.gate.name = "feed_forward.w1";
  d.feedForward.up.name = "feed_forward.w3";
  d.feedForward.down.name = "feed_forward.w2";
  d.readStateLayers({"conv"}, readConvLayers(config));
  d.readRopes();
  d.replaceAttention(ShortConv{config.integer("conv_L_cache", 3, {2, 16}), config.flag("conv_bias", false)});
  // Other keys say these things, too.
  for (const char *key : {"block_dim", "conv_dim", "conv_dim_out"})
    config.passOver(key, d.width);
  config.passOver({"block_norm_eps", "block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init",
                   "conv_use_xavier_init"});
  for (const char *key : {"block_use_swiglu", "use_pos_enc"})
    config.passOverFlag(key, true);
}

// The width of feed-forward layers is rounded up, perhaps after it was adjusted.
static int64_t innerWidth(const ModelConfig &config, int64_t stored) {
  int64_t multiple = config.integer("block_multiple_of", 256, ModelConfig::size);
  double factor = config.positive("block_ffn_dim_multiplier", 1);
  if (!config.flag("block_auto_adjust_ff_dim", true))
    return stored;
  auto adjusted = static_cast<int64_t>(factor * static_cast<double>(2 * stored / 3));
  return (adjusted + multiple - 1) / multiple * multiple;
}

void defineLfm2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, lfm2Sizes);
  readLfm2(d);
  if (config.has("block_ff_dim"))
    d.feedForward.inner = config.integer("block_ff_dim", d.feedForward.inner, ModelConfig::size);
  d.feedForward.inner = innerWidth(config, d.feedForward.inner);
  d.define(g);
}

void defineLfm2Moe(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = lfm2Sizes;
  sizes.width = 2048;
  sizes.inner = 7168;
  Decoder d(config, sizes);
  readLfm2(d);
  MoeLayer moe = readQwenMoe(d, {.experts = 32, .perToken = 4, .inner = 1792, .isNormalized = true});
  moe.scores = MoeLayer::Scores::Sigmoid;
  moe.factor = config.positive("routed_scaling_factor", 1);
  moe.router.name = moe.otherRouter = "feed_forward.gate";
  if (config.flag("use_expert_bias", true))
    moe.selectionBias = "feed_forward.expert_bias";
  moe.tensors.each = "feed_forward.experts";
  moe.tensors.gate = "w1";
  moe.tensors.up = "w3";
  moe.tensors.down = "w2";
  moe.tensors.gateUp = "feed_forward.experts.gate_up_proj";
  moe.tensors.downs = "feed_forward.experts.down_proj";
  d.replaceFeedForward(fromLayer(config.integer("num_dense_layers", 2, {0, ModelConfig::layerCount.maximum})), moe);
  d.define(g);
}

}  // namespace talc
