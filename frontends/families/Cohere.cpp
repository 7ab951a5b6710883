// SPDX-License-Identifier: Apache-2.0
// Cohere's Command R (cohere) and Command R7B (cohere2): both parts read one layer norm without bias, neighbouring
// features are turned together, logits are multiplied.
#include "frontends/families/Families.h"
#include "frontends/families/LlamaModel.h"

namespace talc {

namespace {

struct Cohere : LlamaModel {
  Cohere(const ModelConfig &config, const LlamaDefaults &defaults) : LlamaModel(config, defaults) {
    readBiases(config, /*attention=*/true, /*inner=*/false);
    logitScale = config.positive("logit_scale", 0.0625);
  }

  explicit Cohere(const ModelConfig &config) : Cohere(config, common()) {
    headNorms = config.flag("use_qk_norm", false);
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 256000;
    defaults.width = 8192;
    defaults.inner = 22528;
    defaults.layers = 40;
    defaults.heads = 64;
    defaults.positions = 8192;
    defaults.epsilonKey = "layer_norm_eps";
    defaults.epsilon = 1e-5;
    defaults.tied = true;
    defaults.rope.theta = 500000;
    return defaults;
  }

  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const override {
    return g.layerNorm(x, g.weight(name + ".weight", {width}, "hidden_size"), {}, epsilon);
  }
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    Tensor y = norm(g, x, "input_layernorm");
    return g.add(g.add(x, attention(g, y, number)), feedForward(g, y));
  }
  // Heads are ordered as talc turns them, where they are turned.
  Weight ordered(GraphBuilder &g, Weight weight, Heads heads) const {
    return heads.name[0] == 'v' ? weight : g.halfSplit(weight, headWidth, headWidth);
  }
  Tensor project(GraphBuilder &g, Tensor x, Heads heads) const override {
    const std::string name = std::string("self_attn.") + heads.name + "_proj.";
    int64_t features = heads.count * headWidth;
    Weight matrix = g.weight(name + "weight", {features, width}, "heads by hidden_size");
    Weight bias = inputBias ? ordered(g, g.weight(name + "bias", {features}), heads) : Weight();
    return g.linear(x, ordered(g, matrix, heads), bias);
  }
  Tensor normHeads(GraphBuilder &g, Tensor x, Heads heads) const override {
    if (!headNorms)
      return x;
    Weight scale = g.flatWeight(std::string("self_attn.") + heads.name + "_norm.weight", {heads.count, headWidth});
    return g.layerNorm(x, ordered(g, scale, heads), {}, epsilon, heads.count);
  }
  Tensor logits(GraphBuilder &g, Tensor x, Weight head) const override {
    return g.scale(g.linear(x, head), logitScale);
  }

  double logitScale;
};

// Every fourth layer sees everything and has no positions.
struct Cohere2 : Cohere {
  explicit Cohere2(const ModelConfig &config) : Cohere(config, common()) {
    int64_t every = config.integer("sliding_window_pattern", 4, ModelConfig::layerCount);
    readWindows(config, config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount),
                [=](int64_t layer) { return (layer + 1) % every != 0; });
    readRopes(config);
    for (size_t layer = 0; layer < ropes.size(); ++layer)
      if (windows[layer] == 0)
        ropes[layer].reset();
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults = Cohere::common();
    defaults.rope.theta = 10000;
    return defaults;
  }
};

}  // namespace

void defineCohere(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Cohere>(g, config);
}

void defineCohere2(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Cohere2>(g, config);
}

}  // namespace talc
