// SPDX-License-Identifier: Apache-2.0
// Cohere's Command R (cohere) and Command R7B (cohere2): both parts read one layer norm without bias, neighbouring
// features are turned together, logits are multiplied.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

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

}  // namespace talc
