// SPDX-License-Identifier: Apache-2.0
// Gemma (arXiv 2403.08295), Gemma 2 (arXiv 2408.00118) and the text part of Gemma 3 (arXiv 2503.19786): Llama with a
// scaled embedding and norms whose weights are distances from 1; then with norms around each part, caps of scores and
// logits, and windows.
#include "frontends/families/Families.h"
#include "frontends/families/LlamaModel.h"

#include <cmath>

namespace talc {

namespace {

struct Gemma : LlamaModel {
  Gemma(const ModelConfig &config, const LlamaDefaults &defaults) : LlamaModel(config, defaults) {
    readBiases(config, /*attention=*/true, /*inner=*/false);
    readActivation(config);
  }

  // hidden_act says gelu in the first files, but the tanh form was trained; hidden_activation is what later ones say.
  void readActivation(const ModelConfig &config) {
    const char *old = "hidden_act";
    std::string name = config.text("hidden_act", defaults.activation);
    if (!config.has(old) || name == "gelu")
      return;
    if (config.has(defaults.activationKey) && config.activation(old, name) != activation)
      return config.invalid(old, "contradicts 'hidden_activation'; one of them must go");
    activation = config.activation(old, name);
  }

  explicit Gemma(const ModelConfig &config) : Gemma(config, common()) {
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
    config.refuseFlag("use_bidirectional_attention", "talc knows the family as a decoder");
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 256000;
    defaults.width = 3072;
    defaults.inner = 24576;
    defaults.layers = 28;
    defaults.heads = 16;
    defaults.positions = 8192;
    defaults.keyValueHeads = 16;
    defaults.headWidth = 256;
    defaults.activationKey = "hidden_activation";
    defaults.activation = "gelu_pytorch_tanh";
    defaults.tied = true;
    return defaults;
  }

  // The root is rounded to the type that the table is stored in.
  Tensor embed(GraphBuilder &g, Weight table) const override {
    return g.scale(g.embedding(table), g.asStored(table, std::sqrt(static_cast<double>(width))));
  }
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const override {
    return g.rmsNorm(x, g.plus(g.weight(name + ".weight", {width}, "hidden_size"), 1), epsilon);
  }
};

// A norm before and one behind each part.
struct Gemma2 : Gemma {
  Gemma2(const ModelConfig &config, const LlamaDefaults &defaults) : Gemma(config, defaults) {
    scale = 1 / std::sqrt(config.positive("query_pre_attn_scalar", 256));
  }

  explicit Gemma2(const ModelConfig &config) : Gemma2(config, common()) {
    cap = readCap(config, "attn_logit_softcapping", 50);
    logitCap = readCap(config, "final_logit_softcapping", 30);
    readWindows(config, config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount),
                [](int64_t layer) { return layer % 2 == 0; });
    readRopes(config);
    config.refuseFlag("use_bidirectional_attention", "talc knows the family as a decoder");
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults = Gemma::common();
    defaults.width = 2304;
    defaults.inner = 9216;
    defaults.layers = 26;
    defaults.heads = 8;
    defaults.keyValueHeads = 4;
    return defaults;
  }

  // Null turns a cap off; 0: so does its absence.
  static double readCap(const ModelConfig &config, const char *key, double fallback) {
    return config.has(key) || (fallback > 0 && !config.isNull(key)) ? config.positive(key, fallback) : 0;
  }

  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    Tensor mixed = attention(g, norm(g, x, "input_layernorm"), number);
    x = g.add(x, norm(g, mixed, "post_attention_layernorm"));
    Tensor y = feedForward(g, norm(g, x, "pre_feedforward_layernorm"));
    return g.add(x, norm(g, y, "post_feedforward_layernorm"));
  }
  Tensor logits(GraphBuilder &g, Tensor x, Weight head) const override {
    Tensor y = g.linear(x, head);
    return logitCap > 0 ? g.scale(g.activation(g.scale(y, 1 / logitCap), Activation::Tanh), logitCap) : y;
  }

  double logitCap = 0;
};

// Layers with a window turn by a base of their own, without scaling; queries and keys are normalized head by head.
struct Gemma3 : Gemma2 {
  explicit Gemma3(const ModelConfig &config) : Gemma2(config, common()) {
    logitCap = readCap(config, "final_logit_softcapping", 0);
    int64_t every =
        config.integer("sliding_window_pattern", config.integer("_sliding_window_pattern", 6, patterns), patterns);
    auto window = config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount);
    if (config.flag("use_bidirectional_attention", false)) {
      mask = Mask::Full;
      if (window)
        window = *window / 2 + 1;
    }
    readWindows(config, window, [=](int64_t layer) { return (layer + 1) % every != 0; });
    config.passOver({"rope_theta", "rope_scaling", "rope_local_base_freq"});  // of layers that a model may lack
    RopeKeys local;
    local.thetaKey = "rope_local_base_freq";
    local.ownScaling = true;
    for (int64_t window : windows)
      if (!config.failed())
        ropes.push_back(window ? config.rope(headWidth, "sliding_attention", local)
                               : config.rope(headWidth, "full_attention", defaults.rope));
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults = Gemma2::common();
    defaults.vocabulary = 262208;
    defaults.positions = 131072;
    defaults.rope.theta = 1000000;
    return defaults;
  }

  Tensor normHeads(GraphBuilder &g, Tensor x, Heads heads) const override {
    Weight scale = g.weight(std::string("self_attn.") + heads.name + "_norm.weight", {headWidth});
    return g.rmsNorm(x, g.plus(scale, 1), epsilon, heads.count);
  }

  static constexpr ModelConfig::Range patterns{1, ModelConfig::layerCount.maximum};
};

}  // namespace

void defineGemma(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Gemma>(g, config);
}

void defineGemma2(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Gemma2>(g, config);
}

void defineGemma3(GraphBuilder &g, const ModelConfig &config) {
  if (!g.isEmbedder())
    config.refuseFlag("use_bidirectional_attention",
                      "without modules.json, which makes embeddings, talc knows the family "
                      "as a decoder");
  defineAs<Gemma3>(g, config);
}

}  // namespace talc
