// SPDX-License-Identifier: Apache-2.0
// Llama (arXiv 2302.13971, 2407.21783), Mistral (arXiv 2310.06825), Qwen2 (arXiv 2407.10671), Qwen3 (arXiv 2505.09388),
// SmolLM3, and Granite (arXiv 2405.04324), which multiplies at some places.
#include "frontends/families/Families.h"
#include "frontends/families/LlamaModel.h"

namespace talc {

namespace {

struct Llama : LlamaModel {
  explicit Llama(const ModelConfig &config) : LlamaModel(config, {}) {
    readBiases(config, /*attention=*/true, /*inner=*/true);
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
  }
};

// Its layer_types make it a Ministral.
struct Mistral : LlamaModel {
  explicit Mistral(const ModelConfig &config) : LlamaModel(config, defaults()) {
    readBiases(config, /*attention=*/false, /*inner=*/false);
    readWindows(config, config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount),
                [](int64_t) { return true; });
    readRopes(config);
  }

  static LlamaDefaults defaults() {
    LlamaDefaults defaults;
    defaults.inner = 14336;
    defaults.positions = 131072;
    defaults.keyValueHeads = 8;
    return defaults;
  }
};

// The later layers attend to a window, if the configuration asks for one.
struct Qwen : LlamaModel {
  Qwen(const ModelConfig &config, const LlamaDefaults &defaults) : LlamaModel(config, defaults) {
    std::optional<int64_t> window;
    if (config.flag("use_sliding_window", false))
      window = config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount);
    int64_t first = window ? config.integer("max_window_layers", 28, {0, ModelConfig::layerCount.maximum}) : 0;
    config.passOver({"sliding_window", "max_window_layers"});
    readWindows(config, window, [=](int64_t layer) { return layer >= first; });
    readRopes(config);
    config.refuseFlag("use_mrope", "talc knows one-dimensional rotary positions");
  }

  static LlamaDefaults defaults() {
    LlamaDefaults defaults;
    defaults.vocabulary = 151936;
    defaults.inner = 22016;
    defaults.positions = 32768;
    defaults.keyValueHeads = 32;
    return defaults;
  }
};

struct Qwen2 : Qwen {
  explicit Qwen2(const ModelConfig &config) : Qwen(config, defaults()) {
    readBiases(config, /*attention=*/false, /*inner=*/false);
    inputBias = true;
  }
};

struct Qwen3 : Qwen {
  explicit Qwen3(const ModelConfig &config) : Qwen(config, defaults()) {
    readBiases(config, /*attention=*/true, /*inner=*/false);
    headNorms = true;
  }

  static LlamaDefaults defaults() {
    LlamaDefaults defaults = Qwen::defaults();
    defaults.headWidth = 128;
    return defaults;
  }
};

// Some layers have no positions, and those alone may have a window. no_rope_layers is 1 where there are positions.
struct SmolLm3 : LlamaModel {
  explicit SmolLm3(const ModelConfig &config) : LlamaModel(config, defaults()) {
    readBiases(config, /*attention=*/true, /*inner=*/true);
    std::vector<bool> turns = readTurns(config);
    std::optional<int64_t> window;
    if (config.flag("use_sliding_window", false))
      window = config.integerOrNull("sliding_window", {}, ModelConfig::positionCount);
    config.passOver({"sliding_window", "max_window_layers"});
    readWindows(config, window, [&](int64_t layer) { return !turns[layer]; });
    readRopes(config);
    for (size_t layer = 0; layer < ropes.size(); ++layer)
      if (!turns[layer])
        ropes[layer].reset();
  }

  std::vector<bool> readTurns(const ModelConfig &config) const {
    std::vector<bool> turns;
    int64_t every = config.integer("no_rope_layer_interval", 4, ModelConfig::layerCount);
    std::vector<double> listed = config.numbers("no_rope_layers");
    if (!listed.empty() && static_cast<int64_t>(listed.size()) < layers)
      config.invalid("no_rope_layers", "has " + std::to_string(listed.size()) + " entries for " +
                                           std::to_string(layers) + " layers (num_hidden_layers)");
    for (int64_t layer = 0; layer < layers; ++layer)
      turns.push_back(layer < static_cast<int64_t>(listed.size()) ? listed[layer] != 0 : (layer + 1) % every != 0);
    return turns;
  }

  static LlamaDefaults defaults() {
    LlamaDefaults defaults;
    defaults.vocabulary = 128256;
    defaults.width = 2048;
    defaults.layers = 36;
    defaults.heads = 16;
    defaults.positions = 32768;
    defaults.keyValueHeads = 4;
    defaults.rope.theta = 2000000;
    defaults.tied = true;
    return defaults;
  }
};

struct Granite : LlamaModel {
  explicit Granite(const ModelConfig &config) : LlamaModel(config, {}) {
    if (!config.has("hidden_size"))
      config.invalid("hidden_size", "is missing; models of IBM's that are GPT-2 inside have the same model_type");
    readBiases(config, /*attention=*/true, /*inner=*/true);
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
    embedding = config.positive("embedding_multiplier", 1);
    residual = config.positive("residual_multiplier", 1);
    scale = config.positive("attention_multiplier", 1);
    division = config.positive("logits_scaling", 1);
  }

  Tensor embed(GraphBuilder &g, Weight table) const override { return g.scale(g.embedding(table), embedding); }
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    x = g.add(x, g.scale(attention(g, norm(g, x, "input_layernorm"), number), residual));
    return g.add(x, g.scale(feedForward(g, norm(g, x, "post_attention_layernorm")), residual));
  }
  Tensor logits(GraphBuilder &g, Tensor x, Weight head) const override {
    return g.scale(g.linear(x, head), 1 / division);
  }

  double embedding, residual, division;
};

}  // namespace

void defineLlama(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Llama>(g, config);
}

void defineMistral(GraphBuilder &g, const ModelConfig &config) {
  if (config.has("layer_types"))
    config.unsupported("layer_types", "is of model_type 'ministral'; all layers of this one have the same window");
  defineAs<Mistral>(g, config);
}

void defineMinistral(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Mistral>(g, config);
}

void defineQwen2(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Qwen2>(g, config);
}

void defineQwen3(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Qwen3>(g, config);
}

void defineSmolLm3(GraphBuilder &g, const ModelConfig &config) {
  defineAs<SmolLm3>(g, config);
}

void defineGranite(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Granite>(g, config);
}

}  // namespace talc
