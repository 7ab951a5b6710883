// SPDX-License-Identifier: Apache-2.0
// gpt-oss: a mixture whose experts have biases and a clamped gate, with windows in every other layer, and in every head
// a learned score that takes part in the softmax alone.
#include "frontends/families/Families.h"
#include "frontends/families/MoeModel.h"

#include <cmath>

namespace talc {

namespace {

struct GptOss : MoeModel {
  explicit GptOss(const ModelConfig &config)
      : MoeModel(config, common(), {"mlp.experts", "mlp.router", "gate_proj", "up_proj", "down_proj"}) {
    inputBias = outputBias = config.flag("attention_bias", true);
    config.refuseFlag("mlp_bias", "the biases of experts are always there");
    readExperts(config, "num_local_experts", 128, 4);
    expertInner = inner;
    readWindows(config, config.integerOrNull("sliding_window", 128, ModelConfig::positionCount),
                [](int64_t layer) { return layer % 2 == 0; });
    readRopes(config);
    if (!config.has("rope_scaling") && !config.has("rope_parameters"))
      for (std::optional<Rope> &rope : ropes)
        rope->scaling = YarnScaling{32, 32, 1, 4096, false, 0.1 * std::log(32.0) + 1};
    if (config.number("swiglu_limit", clamp, 0, 1e30) != clamp)
      config.unsupported("swiglu_limit", "the family clamps its gates at 7");
    if (config.number("swiglu_alpha", alpha, 0, 1e30) != alpha)
      config.unsupported("swiglu_alpha", "the family has gates of 1.702");
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 201088;
    defaults.width = defaults.inner = 2880;
    defaults.layers = 36;
    defaults.heads = 64;
    defaults.positions = 131072;
    defaults.keyValueHeads = 8;
    defaults.headWidth = 64;
    defaults.epsilon = 1e-5;
    defaults.rope.theta = 150000;
    return defaults;
  }

  Weight sinks(GraphBuilder &g) const override { return g.weight("self_attn.sinks", {heads}, "num_attention_heads"); }
  Tensor feedForward(GraphBuilder &g, Tensor x) const override { return mixed(g, x); }

  // The softmax of the chosen scores is that of all scores, divided by what the chosen ones have of it.
  Tensor routes(GraphBuilder &g, Tensor x) const override {
    Weight router = g.weight("mlp.router.weight", {experts, width}, "experts by hidden_size");
    Tensor scores = g.linear(x, router, g.weight("mlp.router.bias", {experts}, "experts"));
    return g.route(g.softmax(scores), chosen, /*normalized=*/true);
  }

  Experts weights(GraphBuilder &g) const override {
    Experts all = g.has("mlp.experts.gate_up_proj") ? inTurn(g) : apart(g);
    all.clamp = clamp;
    return all;
  }

  // A matrix of gates and one of inputs for each expert.
  Experts apart(GraphBuilder &g) const {
    Experts all = MoeModel::weights(g);
    all.kind = Activation::QuickGelu;
    all.gateBias = biases(g, names.gate, expertInner);
    all.upBias = biases(g, names.up, expertInner);
    all.downBias = biases(g, names.down, width);
    return all;
  }

  Weight biases(GraphBuilder &g, const std::string &name, int64_t outputs) const {
    std::vector<Weight> parts;
    for (int64_t expert = 0; expert < experts; ++expert)
      parts.push_back(g.weight(names.place + "." + std::to_string(expert) + "." + name + ".bias", {outputs}));
    return g.concat(names.place + "." + name + ".bias", parts);
  }

  // All experts in one, inputs by outputs, gate and up in turn.
  Experts inTurn(GraphBuilder &g) const {
    const std::string place = "mlp.experts.";
    Weight both = outputsByInputs(g, place + "gate_up_proj", width, 2 * expertInner);
    Weight bias = g.flatWeight(place + "gate_up_proj_bias", {experts, 2 * expertInner});
    Experts all = {g.rows(both, 0, 1, 2), g.rows(both, 1, 1, 2),
                   outputsByInputs(g, place + "down_proj", expertInner, width), Activation::QuickGelu, chosen};
    all.gateBias = g.rows(bias, 0, 1, 2);
    all.upBias = g.rows(bias, 1, 1, 2);
    all.downBias = g.flatWeight(place + "down_proj_bias", {experts, width});
    return all;
  }

  Weight outputsByInputs(GraphBuilder &g, const std::string &name, int64_t inputs, int64_t outputs) const {
    Weight all = g.stackedWeight(name, {experts, inputs, outputs});
    std::vector<Weight> parts;
    for (int64_t expert = 0; expert < experts; ++expert)
      parts.push_back(g.transpose(g.rows(all, expert * inputs, inputs, experts * inputs)));
    return g.concat(name + ".transposed", parts);
  }

  static constexpr double clamp = 7, alpha = 1.702;
};

}  // namespace

void defineGptOss(GraphBuilder &g, const ModelConfig &config) {
  defineAs<GptOss>(g, config);
}

}  // namespace talc
