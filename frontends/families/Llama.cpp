// SPDX-License-Identifier: Apache-2.0
// Llama (arXiv 2302.13971, 2407.21783), Mistral (arXiv 2310.06825) and SmolLM3.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

void defineLlama(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.readRopes();
  d.define(g);
}

// Layers have windows by layer_types.
void defineMinistral(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.inner = 14336, .positions = 131072, .keyValueHeads = 8});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  d.readWindows(d.windowOr(4096), inEveryLayer());
  d.readRopes();
  d.define(g);
}

void defineMistral(GraphBuilder &g, const ModelConfig &config) {
  if (config.has("layer_types"))
    config.unsupported("layer_types", "is of model_type 'ministral'; all layers of this one have the same window");
  defineMinistral(g, config);
}

// Scores of queries grow beyond the original context.
void defineMinistral3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 131072,
                     .inner = 14336,
                     .layers = 34,
                     .positions = 262144,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .rope = {.theta = 1000000, .others = {"llama_4_scaling_beta", "max_position_embeddings"}}});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  if (config.has("layer_types"))
    config.unsupported("layer_types", "is of model_type 'ministral'; all layers of this one have the same window");
  d.readWindows(d.windowOr({}), inEveryLayer());
  d.readRopes();
  Growth growth = {0.1, 16384};
  auto parameters = config.inner(config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  if (parameters) {
    for (const char *key : {"llama_4_scaling_beta", "original_max_position_embeddings"})
      if (!parameters->has(key))
        parameters->invalid(key, "is missing");
    growth.weight = parameters->number("llama_4_scaling_beta", growth.weight, -1e3, 1e3);
    growth.period = parameters->integer("original_max_position_embeddings", growth.period, ModelConfig::positionCount);
  } else {
    for (std::optional<Rope> &rope : d.attention.ropes)
      rope->scaling = YarnScaling{32, 1, 16, 16384, true, 1};
  }
  d.useGrowth(growth, "original_max_position_embeddings");
  d.define(g);
}

// Some layers have no positions, and those alone may have a window.
void defineSmolLm3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128256,
                     .width = 2048,
                     .layers = 36,
                     .heads = 16,
                     .positions = 32768,
                     .keyValueHeads = 4,
                     .tied = true,
                     .rope = {.theta = 2000000},
                     .padding = 128004});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  LayerRule turns = d.readRopeLayers();
  LayerRule hasNone = [&](int64_t layer) { return !turns(layer); };
  std::optional<int64_t> window;
  if (config.flag("use_sliding_window", false))
    window = d.windowOr({});
  config.passOver({"sliding_window", "max_window_layers"});
  d.readWindows(window, hasNone);
  d.readRopes();
  d.dropRopes(hasNone);
  d.define(g);
}

}  // namespace talc
