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

// Whether each layer has positions: no_rope_layers is 1 where it has.
static std::vector<bool> layersWithPositions(const Decoder &d) {
  std::vector<bool> result;
  int64_t every = d.config.integer("no_rope_layer_interval", 4, ModelConfig::layerCount);
  std::vector<double> listed = d.config.numbers("no_rope_layers");
  if (!listed.empty() && static_cast<int64_t>(listed.size()) < d.layers)
    d.config.invalid("no_rope_layers", "has " + std::to_string(listed.size()) + " entries for " +
                                           std::to_string(d.layers) + " layers (num_hidden_layers)");
  for (int64_t layer = 0; layer < d.layers; ++layer)
    result.push_back(layer < static_cast<int64_t>(listed.size()) ? listed[layer] != 0 : exceptEvery(every)(layer));
  return result;
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
                     .rope = {.theta = 2000000}});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  std::vector<bool> turns = layersWithPositions(d);
  LayerRule hasNone = [&](int64_t layer) { return !turns[layer]; };
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
