// SPDX-License-Identifier: Apache-2.0
// Cohere's Command R (cohere) Command R7B (cohere2) and the same with experts (cohere2_moe): both parts read one layer
// norm without bias, neighbouring features are turned together, logits are multiplied.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

namespace talc {

constexpr DecoderDefaults commandSizes = {.vocabulary = 256000,
                                          .width = 8192,
                                          .inner = 22528,
                                          .layers = 40,
                                          .heads = 64,
                                          .positions = 8192,
                                          .epsilon = 1e-5,
                                          .tied = true,
                                          .rope = {.theta = 500000},
                                          .keys = {.epsilon = "layer_norm_eps"}};

static void readCommand(Decoder &d) {
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useLayerNorms(/*bias=*/false, "input_layernorm");
  d.head.factor = d.config.positive("logit_scale", 0.0625);
  if (d.config.text("position_embedding_type", "rope_gptj") != "rope_gptj")
    d.config.unsupported("position_embedding_type", "the family turns neighboring features (rope_gptj)");
}

void defineCohere(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, commandSizes);
  readCommand(d);
  if (config.flag("use_qk_norm", false))
    d.useHeadNorms(HeadNorms::Scale::Rows);
  d.readRopes();
  d.pairNeighbors();
  d.define(g);
}

// Every fourth layer sees everything and has no positions.
void defineCohere2(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = commandSizes;
  sizes.rope.theta = 10000;
  Decoder d(config, sizes);
  readCommand(d);
  d.readWindows(d.windowOr(4096), exceptEvery(config.integer("sliding_window_pattern", 4, ModelConfig::layerCount)));
  d.readRopes();
  d.pairNeighbors();
  d.dropRopes([&](int64_t layer) { return d.attention.windows[layer] == 0; });
  d.define(g);
}

// The first layers, which have no experts, may have another rule for windows, and positions without windows.
static void readCohereMoeLayers(Decoder &d, const LayerRule &isSparse) {
  const ModelConfig &config = d.config;
  int64_t first = config.integer("first_k_dense_replace", 0, {0, ModelConfig::layerCount.maximum});
  int64_t every = config.integer("sliding_window_pattern", 4, ModelConfig::layerCount);
  int64_t dense = config.integer("prefix_dense_sliding_window_pattern", 1, ModelConfig::layerCount);
  d.readWindows(d.windowOr(4096), [=](int64_t layer) {
    return layer < first ? exceptEvery(dense)(layer) : exceptEvery(every)(layer - first);
  });
  d.readRopes();
  d.pairNeighbors();
  d.dropRopes([&](int64_t layer) { return d.attention.windows[layer] == 0 && (isSparse(layer) || dense != 1); });
}

// Command R7B with experts, which may be averaged with shared ones.
void defineCohere2Moe(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = commandSizes;
  sizes.rope.theta = 10000;
  sizes.headWidth = 128;
  Decoder d(config, sizes);
  readCommand(d);
  if (config.has("rms_norm_eps"))
    d.norm = {Norm::Form::Rms, config.positive("rms_norm_eps", 1e-5)};
  MoeLayer moe = readQwenMoe(d, {.experts = 8, .perToken = 2, .inner = 0, .isNormalized = true});
  std::string scores = config.text("expert_selection_fn", "softmax");
  if (scores == "sigmoid")
    moe.scores = MoeLayer::Scores::Sigmoid;
  else if (scores == "softmax")
    moe.routing.normalized = true;
  else
    config.unsupported("expert_selection_fn", "talc knows softmax and sigmoid");
  std::string combination = config.text("shared_expert_combination_strategy", "average");
  if (combination != "average" && combination != "sum")
    config.unsupported("shared_expert_combination_strategy", "talc knows average and sum");
  if (int64_t shared = config.integer("num_shared_experts", 0, {0, 4096}); shared > 0) {
    moe.shared = d.feedForward.at("mlp.shared_experts", shared * moe.inner);
    moe.sumFactor = combination == "average" ? 0.5 : 1;
  }
  LayerRule isSparse =
      readSparseLayers(d, fromLayer(config.integer("first_k_dense_replace", 0, {0, ModelConfig::layerCount.maximum})));
  readCohereMoeLayers(d, isSparse);
  d.feedForward.inner =
      config.integerOrNull("prefix_dense_intermediate_size", {}, ModelConfig::size).value_or(d.feedForward.inner);
  d.replaceFeedForward(isSparse, moe);
  d.define(g);
}

}  // namespace talc
