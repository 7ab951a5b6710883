// SPDX-License-Identifier: Apache-2.0
// Phi-1.5 and Phi-2 (arXiv 2309.05463): both parts read one layer norm, a part of each head is turned, everything has a
// bias. Phi-3 (arXiv 2404.14219): Llama with fused projections and positions for long texts.
#include "frontends/families/Families.h"
#include "frontends/families/LlamaModel.h"

namespace talc {

namespace {

struct Phi : LlamaModel {
  explicit Phi(const ModelConfig &config) : LlamaModel(config, common()) {
    inputBias = outputBias = true;
    headNorms = config.flag("qk_layernorm", false);
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 51200;
    defaults.width = 2048;
    defaults.inner = 8192;
    defaults.layers = 24;
    defaults.epsilonKey = "layer_norm_eps";
    defaults.epsilon = 1e-5;
    defaults.activation = "gelu_new";
    defaults.lastNorm = "model.final_layernorm";
    defaults.output = "self_attn.dense";
    defaults.rope.share = 0.5;
    defaults.rope.hasShare = true;
    return defaults;
  }

  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const override {
    return g.layerNorm(x, name, epsilon);
  }
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    Tensor y = norm(g, x, "input_layernorm");
    return g.add(g.add(x, attention(g, y, number)), feedForward(g, y));
  }
  Tensor feedForward(GraphBuilder &g, Tensor x) const override {
    return g.linear(g.activation(g.linear(x, "mlp.fc1", inner), activation), "mlp.fc2", width);
  }
  // One norm for all heads.
  Tensor normHeads(GraphBuilder &g, Tensor x, Heads heads) const override {
    if (!headNorms)
      return x;
    const std::string place = std::string("self_attn.") + heads.name + "_layernorm.";
    Weight scale = g.weight(place + "weight", {headWidth}), bias = g.weight(place + "bias", {headWidth});
    return g.layerNorm(x, scale, bias, epsilon, heads.count);
  }
  Tensor logits(GraphBuilder &g, Tensor x, Weight head) const override {
    return g.linear(x, head, g.weight("lm_head.bias", {vocabulary}));
  }
};

struct Phi3 : LlamaModel {
  explicit Phi3(const ModelConfig &config) : LlamaModel(config, common()) {
    readBiases(config, /*attention=*/false, /*inner=*/false);
    readWindows(config, config.integerOrNull("sliding_window", {}, ModelConfig::positionCount),
                [](int64_t) { return true; });
    readRopes(config);
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 32064;
    defaults.width = 3072;
    defaults.inner = 8192;
    defaults.positions = 4096;
    defaults.epsilon = 1e-5;
    defaults.rope.original = 4096;
    defaults.rope.hasShare = true;
    return defaults;
  }

  // Queries, keys and values lie in one matrix, one after the other.
  Tensor project(GraphBuilder &g, Tensor x, Heads part) const override {
    int64_t all = (heads + 2 * keyValueHeads) * headWidth, count = part.count * headWidth;
    int64_t first = part.name[0] == 'q' ? 0 : part.name[0] == 'k' ? heads * headWidth : all - count;
    Weight matrix = g.weight("self_attn.qkv_proj.weight", {all, width}, "queries, keys and values by hidden_size");
    return g.linear(x, g.rows(matrix, first, count, all));
  }
  Tensor feedForward(GraphBuilder &g, Tensor x) const override {
    Weight both = g.weight("mlp.gate_up_proj.weight", {2 * inner, width}, "2 * intermediate_size by hidden_size");
    Tensor gate = g.activation(g.linear(x, g.rows(both, 0, inner, 2 * inner)), activation);
    Tensor up = g.linear(x, g.rows(both, inner, inner, 2 * inner));
    return linear(g, g.mul(gate, up), "mlp.down_proj", width, false, "hidden_size by intermediate_size");
  }
};

}  // namespace

void definePhi(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Phi>(g, config);
}

void definePhi3(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Phi3>(g, config);
}

}  // namespace talc
