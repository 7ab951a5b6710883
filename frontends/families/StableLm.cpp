// SPDX-License-Identifier: Apache-2.0
// StableLM (arXiv 2402.17834): Llama with layer norms, of which both parts may read one, and turns of a quarter of each
// head's features.
#include "frontends/families/Families.h"
#include "frontends/families/LlamaModel.h"

namespace talc {

namespace {

struct StableLm : LlamaModel {
  explicit StableLm(const ModelConfig &config) : LlamaModel(config, common()) {
    readBiases(config, /*attention=*/false, /*inner=*/false);
    inputBias = config.flag("use_qkv_bias", false);
    headNorms = config.flag("qk_layernorm", false);
    parallel = config.flag("use_parallel_residual", false);
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 50304;
    defaults.width = 2560;
    defaults.inner = 6912;
    defaults.positions = 4096;
    defaults.keyValueHeads = 32;
    defaults.epsilonKey = "layer_norm_eps";
    defaults.epsilon = 1e-5;
    defaults.ownHeadWidth = false;
    defaults.rope.share = 0.25;
    defaults.rope.hasShare = true;
    return defaults;
  }

  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const override {
    return g.layerNorm(x, name, epsilon);
  }
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    Tensor y = norm(g, x, "input_layernorm"), mixed = g.add(x, attention(g, y, number));
    return g.add(mixed, feedForward(g, parallel ? y : norm(g, mixed, "post_attention_layernorm")));
  }
  // Every head has a norm of its own.
  Tensor normHeads(GraphBuilder &g, Tensor x, Heads heads) const override {
    if (!headNorms)
      return x;
    const std::string place = std::string("self_attn.") + heads.name + "_layernorm.norms";
    std::vector<Weight> scales;
    for (int64_t head = 0; head < heads.count; ++head)
      scales.push_back(g.weight(place + "." + std::to_string(head) + ".weight", {headWidth}));
    return g.layerNorm(x, g.concat(place, scales), {}, epsilon, heads.count);
  }

  bool parallel;
};

}  // namespace

void defineStableLm(GraphBuilder &g, const ModelConfig &config) {
  defineAs<StableLm>(g, config);
}

}  // namespace talc
