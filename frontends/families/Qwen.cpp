// SPDX-License-Identifier: Apache-2.0
// Qwen2 (arXiv 2407.10671) and Qwen3 (arXiv 2505.09388): Llama with windows in some layers; biases of queries, keys and
// values in Qwen2, norms of heads in Qwen3. Some layers may be mixtures; Qwen2 has one more expert that every token
// passes.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

#include <set>

namespace talc {

constexpr DecoderDefaults qwenSizes = {.vocabulary = 151936, .inner = 22016, .positions = 32768, .keyValueHeads = 32};
constexpr DecoderDefaults moeSizes = {.vocabulary = 151936,
                                      .width = 2048,
                                      .inner = 5632,
                                      .layers = 24,
                                      .heads = 16,
                                      .positions = 32768,
                                      .keyValueHeads = 16};

// The window, if the configuration asks for one.
static std::optional<int64_t> chosenWindow(const Decoder &d) {
  d.config.passOver({"sliding_window", "max_window_layers"});
  return d.config.flag("use_sliding_window", false) ? d.windowOr(4096) : std::nullopt;
}

static int64_t windowLayers(const Decoder &d, bool hasWindow) {
  return hasWindow ? d.config.integer("max_window_layers", 28, {0, ModelConfig::layerCount.maximum}) : 0;
}

// The later layers attend to a window.
static void readQwen(Decoder &d) {
  std::optional<int64_t> window = chosenWindow(d);
  d.readWindows(window, fromLayer(windowLayers(d, window.has_value())));
  d.readRopes();
  d.config.refuseFlag("use_mrope", "talc knows one-dimensional rotary positions");
}

void defineQwen2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, qwenSizes);
  readQwen(d);
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  d.attention.projections.setInputBias(true);
  d.define(g);
}

void defineQwen3(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = qwenSizes;
  sizes.headWidth = 128;
  Decoder d(config, sizes);
  readQwen(d);
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.define(g);
}

// Some layers have one feed-forward layer, as Llama.
static LayerRule moeLayers(const ModelConfig &config) {
  int64_t step = config.integer("decoder_sparse_step", 1, ModelConfig::layerCount);
  std::set<int64_t> dense;
  for (double layer : config.numbers("mlp_only_layers"))
    dense.insert(static_cast<int64_t>(layer));
  return [=](int64_t layer) { return (layer + 1) % step == 0 && dense.count(layer) == 0; };
}

void defineQwen2Moe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, moeSizes);
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  d.attention.projections.setInputBias(config.flag("qkv_bias", true));
  int64_t last = windowLayers(d, config.flag("use_sliding_window", false));
  d.readWindows(chosenWindow(d), [=](int64_t layer) { return layer % 2 == 0 && layer < last; });
  d.readRopes();
  MoeLayer moe = readQwenMoe(d, {.experts = 60, .perToken = 4, .inner = 1408});
  int64_t sharedInner = config.integer("shared_expert_intermediate_size", 5632, ModelConfig::size);
  moe.shared = d.feedForward.at("mlp.shared_expert", sharedInner);
  moe.shared->why = "shared_expert_intermediate_size";
  moe.sharedGate = "mlp.shared_expert_gate";
  d.replaceFeedForward(moeLayers(config), moe);
  d.define(g);
}

void defineQwen3Moe(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = moeSizes;
  sizes.inner = 6144;
  sizes.heads = 32;
  sizes.keyValueHeads = 4;
  Decoder d(config, sizes);
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.readWindows(chosenWindow(d), inEveryLayer());
  d.readRopes();
  d.replaceFeedForward(moeLayers(config), readQwenMoe(d, {.experts = 128, .perToken = 8, .inner = 768}));
  d.define(g);
}

}  // namespace talc
