// SPDX-License-Identifier: Apache-2.0
// Decoders that differ from Qwen3 in a few properties: dots.llm1 (arXiv 2506.05767), Flint, Hunyuan, HY 3,
// Mellum 2 and AFMoE.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

#include <cmath>
#include <set>

namespace talc {

// DeepSeek V3's routing.
void defineDots1(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 152064, .width = 4608, .inner = 10944, .layers = 62, .keyValueHeads = 32});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.readWindows(d.windowOr(4096),
                fromLayer(config.integer("max_window_layers", 62, {0, ModelConfig::layerCount.maximum})));
  d.readRopes();
  if (!config.has("n_routed_experts"))
    config.invalid("n_routed_experts", "is missing");
  DeepSeekMoeDefaults defaults = {
      .experts = 1, .perToken = {}, .inner = 1408, .denseLayers = 0, .shared = 0, .factor = 1.0};
  MoeLayer moe = readDeepSeekMoe(d, defaults);
  readBiasedRouting(moe, config, 1, 1);
  moe.routing.normalized = config.flag("norm_topk_prob", false);
  useDeepSeekMoe(d, moe, defaults);
  d.define(g);
}

// Sigmoid routing, attention sinks; layers without a window have no positions.
void defineFlint(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 150144,
                     .width = 2048,
                     .inner = 6144,
                     .layers = 49,
                     .positions = 262144,
                     .keyValueHeads = 4,
                     .headWidth = 128});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.attention.sinks = "self_attn.softmax_offset";
  int64_t last = d.layers - 1;
  d.readWindows(d.windowOr(513), [=](int64_t layer) { return layer >= 2 && layer % 4 != 1 && layer != last; });
  d.readRopes();
  d.dropRopes([&](int64_t layer) { return d.attention.windows[layer] == 0; });
  MoeLayer moe = readQwenMoe(d, {.experts = 256, .perToken = 6, .inner = 512, .isNormalized = true});
  moe.scores = MoeLayer::Scores::Sigmoid;
  moe.shared =
      d.feedForward.at("mlp.shared_expert", config.integer("shared_expert_intermediate_size", 1024, ModelConfig::size));
  std::vector<double> dense =
      config.has("mlp_only_layers") ? config.numbers("mlp_only_layers") : std::vector<double>{0, 1};
  int64_t step = config.integer("decoder_sparse_step", 1, ModelConfig::layerCount);
  std::set<double> denseLayers(dense.begin(), dense.end());
  d.replaceFeedForward(
      [=](int64_t layer) { return (layer + 1) % step == 0 && denseLayers.count(static_cast<double>(layer)) == 0; },
      moe);
  d.define(g);
}

// Queries and keys are normalized behind rope, whose base may grow by a factor for longer texts.
static void readHunyuan(Decoder &d) {
  const ModelConfig &config = d.config;
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.attention.norms.query = "self_attn.query_layernorm";
  d.attention.norms.key = "self_attn.key_layernorm";
  d.attention.norms.isBehindRope = true;
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.readRopes();
  auto parameters = config.inner(config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  double alpha = parameters && parameters->has("alpha") ? parameters->number("alpha", 0, 0, 1e30) : 0;
  for (std::optional<Rope> &rope : d.attention.ropes)
    if (alpha > 0 && std::holds_alternative<DynamicScaling>(rope->scaling)) {
      auto width = static_cast<double>(d.attention.sizes.width);
      rope->base *= std::pow(alpha, width / (width - 2));
      rope->scaling = {};
    }
}

void defineHunyuan(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 290943, .epsilon = 1e-5, .rope = {.others = {"alpha"}}, .padding = 0});
  readHunyuan(d);
  d.define(g);
}

// Experts beside a layer that every token passes, all of one size.
void defineHunyuanMoe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 290943, .epsilon = 1e-5, .rope = {.others = {"alpha"}}, .padding = 0});
  readHunyuan(d);
  MoeLayer moe;
  moe.readCounts(config, "num_experts", 1, 1, "moe_topk");
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.router.name = "mlp.gate.wg";
  moe.shared = d.feedForward.at("mlp.shared_mlp", moe.inner);
  d.replaceFeedForward(inEveryLayer(), moe);
  d.define(g);
}

// Sigmoid routing with a bias, under names of its own.
void defineHy3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 120832,
                     .inner = 13312,
                     .layers = 80,
                     .heads = 64,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .rope = {.theta = 11158840}});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.readRopes();
  MoeLayer moe;
  moe.readCounts(config, "num_experts", 192, 8);
  moe.inner = config.integer("moe_intermediate_size", 1536, ModelConfig::size);
  moe.activation = d.feedForward.activation;
  moe.scores = MoeLayer::Scores::Sigmoid;
  moe.router.name = "mlp.router.gate";
  moe.selectionBias = "mlp.expert_bias";
  config.passOver({"enable_moe_fp32_combine"});  // the type of a sum
  moe.factor = config.positive("router_scaling_factor", 2.826);
  int64_t shared = config.integer("num_shared_experts", 1, {0, 4096});
  if (shared > 0)
    moe.shared = d.feedForward.at("mlp.shared_mlp", shared * moe.inner);
  d.replaceFeedForward(readSparseLayers(d, fromLayer(1)), moe);
  d.define(g);
}

// Mellum 2: Qwen3-MoE with rotary bases by type of layer.
void defineMellum(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 98304,
                     .width = 2304,
                     .inner = 7168,
                     .layers = 28,
                     .positions = 131072,
                     .keyValueHeads = 4,
                     .headWidth = 128,
                     .rope = {.theta = 500000}});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.readWindows(d.windowOr(1024), [](int64_t) { return false; });
  d.readRopes({.theta = 10000});
  d.replaceFeedForward(readSparseLayers(d, inEveryLayer()),
                       readQwenMoe(d, {.experts = 64, .perToken = 8, .inner = 896, .isNormalized = true}));
  d.define(g);
}

// AFMoE (Trinity): norms around the parts, a gate at the output of attention; layers without a window have no
// positions.
void defineAfmoe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 200192,
                     .width = 2048,
                     .inner = 6144,
                     .heads = 16,
                     .positions = 16384,
                     .headWidth = 128,
                     .epsilon = 1e-5});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.attention.gate = "self_attn.gate_proj";
  d.attentionNorms.output = "post_attention_layernorm";
  d.innerNorms = {"pre_mlp_layernorm", "post_mlp_layernorm", {}};
  if (config.flag("mup_enabled", false))
    d.embedding.factor = std::sqrt(static_cast<double>(d.width));
  d.readWindows(d.windowOr(1024),
                exceptEvery(config.integer("global_attn_every_n_layers", 4, ModelConfig::layerCount)));
  d.readRopes();
  d.dropRopes([&](int64_t layer) { return d.attention.windows[layer] == 0; });
  MoeLayer moe = readQwenMoe(d, {.experts = 64, .perToken = 6, .inner = 1408});
  moe.routing.normalized = true;
  moe.scores = MoeLayer::Scores::Sigmoid;
  moe.router.name = "mlp.router.gate";
  moe.selectionBias = "mlp.expert_bias";
  moe.factor = config.positive("route_scale", 1);
  int64_t shared = config.integer("num_shared_experts", 2, {1, 4096});
  moe.shared = d.feedForward.at("mlp.shared_experts", shared * moe.inner);
  d.replaceFeedForward(fromLayer(config.integer("num_dense_layers", 1, {0, ModelConfig::layerCount.maximum})), moe);
  d.define(g);
}

}  // namespace talc
