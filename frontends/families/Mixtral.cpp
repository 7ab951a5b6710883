// SPDX-License-Identifier: Apache-2.0
// Mixtral (arXiv 2401.04088), and the mixtures of Qwen2 (arXiv 2407.10671) and Qwen3 (arXiv 2505.09388): Llama with
// many feed-forward layers, of which every token passes a few. Qwen2 has one more that every token passes.
#include "frontends/families/Families.h"
#include "frontends/families/MoeModel.h"

#include <set>

namespace talc {

namespace {

struct Mixtral : MoeModel {
  explicit Mixtral(const ModelConfig &config)
      : MoeModel(config, common(), {"block_sparse_moe.experts", "block_sparse_moe.gate", "w1", "w3", "w2"}) {
    readBiases(config, /*attention=*/false, /*inner=*/false);
    readExperts(config, "num_local_experts", 8, 2);
    expertInner = inner;
    readWindows(config, config.integerOrNull("sliding_window", {}, ModelConfig::positionCount),
                [](int64_t) { return true; });
    readRopes(config);
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.inner = 14336;
    defaults.positions = 131072;
    defaults.keyValueHeads = 8;
    defaults.epsilon = 1e-5;
    defaults.rope.theta = 1000000;
    return defaults;
  }

  Tensor feedForward(GraphBuilder &g, Tensor x) const override { return mixed(g, x); }
};

// Some layers have one feed-forward layer, as Llama.
struct QwenMixture : MoeModel {
  QwenMixture(const ModelConfig &config, const LlamaDefaults &defaults, int64_t count, int64_t perToken)
      : MoeModel(config, defaults, {"mlp.experts", "mlp.gate", "gate_proj", "up_proj", "down_proj"}) {
    readExperts(config, config.has("num_experts") ? "num_experts" : "num_local_experts", count, perToken);
    normalized = config.flag("norm_topk_prob", false);
    step = config.integer("decoder_sparse_step", 1, ModelConfig::layerCount);
    for (double layer : config.numbers("mlp_only_layers"))
      dense.insert(static_cast<int64_t>(layer));
  }

  void readWindow(const ModelConfig &config, const std::function<bool(int64_t layer)> &slides) {
    std::optional<int64_t> window;
    if (config.flag("use_sliding_window", false))
      window = config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount);
    config.passOver({"sliding_window", "max_window_layers"});
    readWindows(config, window, slides);
    readRopes(config);
  }

  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    x = g.add(x, attention(g, norm(g, x, "input_layernorm"), number));
    Tensor y = norm(g, x, "post_attention_layernorm");
    bool sparse = (number + 1) % step == 0 && dense.count(number) == 0;
    return g.add(x, sparse ? mixture(g, y) : feedForward(g, y));
  }
  virtual Tensor mixture(GraphBuilder &g, Tensor x) const { return mixed(g, x); }

  int64_t step;
  std::set<int64_t> dense;
};

struct Qwen2Moe : QwenMixture {
  explicit Qwen2Moe(const ModelConfig &config) : QwenMixture(config, common(), 60, 4) {
    readBiases(config, /*attention=*/false, /*inner=*/false);
    inputBias = config.flag("qkv_bias", true);
    expertInner = config.integer("moe_intermediate_size", 1408, ModelConfig::size);
    sharedInner = config.integer("shared_expert_intermediate_size", 5632, ModelConfig::size);
    bool slides = config.flag("use_sliding_window", false);
    int64_t last = slides ? config.integer("max_window_layers", 28, {0, ModelConfig::layerCount.maximum}) : 0;
    readWindow(config, [=](int64_t layer) { return layer % 2 == 0 && layer < last; });
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 151936;
    defaults.width = 2048;
    defaults.inner = 5632;
    defaults.layers = 24;
    defaults.heads = 16;
    defaults.positions = 32768;
    defaults.keyValueHeads = 16;
    return defaults;
  }

  // A single expert, whose route is its gate.
  Tensor mixture(GraphBuilder &g, Tensor x) const override {
    Weight router = g.weight("mlp.shared_expert_gate.weight", {1, width}, "1 by hidden_size");
    Tensor route = g.activation(g.linear(x, router), Activation::Sigmoid);
    auto matrix = [&](const std::string &name, int64_t rows, int64_t columns) {
      return g.weight("mlp.shared_expert." + name + ".weight", {rows, columns}, "shared_expert_intermediate_size");
    };
    Weight gate = matrix("gate_proj", sharedInner, width), up = matrix("up_proj", sharedInner, width);
    return g.add(mixed(g, x), g.experts(x, route, gate, up, matrix("down_proj", width, sharedInner), activation, 1));
  }

  int64_t sharedInner;
};

struct Qwen3Moe : QwenMixture {
  explicit Qwen3Moe(const ModelConfig &config) : QwenMixture(config, common(), 128, 8) {
    readBiases(config, /*attention=*/true, /*inner=*/false);
    headNorms = true;
    expertInner = config.integer("moe_intermediate_size", 768, ModelConfig::size);
    readWindow(config, [](int64_t) { return true; });
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults = Qwen2Moe::common();
    defaults.inner = 6144;
    defaults.heads = 32;
    defaults.keyValueHeads = 4;
    return defaults;
  }
};

}  // namespace

void defineMixtral(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Mixtral>(g, config);
}

void defineQwen2Moe(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Qwen2Moe>(g, config);
}

void defineQwen3Moe(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Qwen3Moe>(g, config);
}

}  // namespace talc
