// SPDX-License-Identifier: Apache-2.0
// OLMo 2 (arXiv 2501.00656) and OLMo 3: Llama with norms behind the parts instead of before them, and queries and keys
// normalized over all heads at once.
#include "frontends/families/Families.h"
#include "frontends/families/LlamaModel.h"

namespace talc {

namespace {

struct Olmo2 : LlamaModel {
  Olmo2(const ModelConfig &config, const LlamaDefaults &defaults) : LlamaModel(config, defaults) {
    readBiases(config, /*attention=*/true, /*inner=*/false);
  }

  explicit Olmo2(const ModelConfig &config) : Olmo2(config, common()) {
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.vocabulary = 50304;
    defaults.epsilon = 1e-5;
    return defaults;
  }

  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    x = g.add(x, norm(g, attention(g, x, number), "post_attention_layernorm"));
    return g.add(x, norm(g, feedForward(g, x), "post_feedforward_layernorm"));
  }
  Tensor normHeads(GraphBuilder &g, Tensor x, Heads heads) const override {
    return g.rmsNorm(x, g.weight(std::string("self_attn.") + heads.name + "_norm.weight", {x.width()}), epsilon);
  }
};

// Three layers of four have a window, and no scaling of their positions.
struct Olmo3 : Olmo2 {
  explicit Olmo3(const ModelConfig &config) : Olmo2(config, common()) {
    readWindows(config, config.integerOrNull("sliding_window", 4096, ModelConfig::positionCount),
                [](int64_t layer) { return (layer + 1) % 4 != 0; });
    checkRope(config);
    RopeKeys unscaled = defaults.rope;
    unscaled.ownScaling = true;
    for (int64_t window : windows)
      if (!config.failed())
        ropes.push_back(window ? config.rope(headWidth, "sliding_attention", unscaled)
                               : config.rope(headWidth, "full_attention", defaults.rope));
  }

  // Versions of transformers read other spellings in different ways.
  void checkRope(const ModelConfig &config) const {
    auto parameters = config.inner("rope_parameters"), scaling = config.inner("rope_scaling");
    const double base = defaults.rope.theta;
    if (parameters && !parameters->has("full_attention"))
      config.unsupported("rope_parameters", "is the same for all layers; talc knows an object for each of the types "
                                            "full_attention and sliding_attention");
    if (scaling && !scaling->has("rope_type"))
      scaling->invalid("rope_type", "is missing");
    if (!parameters && config.positive("rope_theta", base) != base)
      config.unsupported("rope_theta", "is not 500000, the base of layers with windows");
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults = Olmo2::common();
    defaults.rope.theta = 500000;
    return defaults;
  }
};

}  // namespace

void defineOlmo2(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Olmo2>(g, config);
}

void defineOlmo3(GraphBuilder &g, const ModelConfig &config) {
  defineAs<Olmo3>(g, config);
}

}  // namespace talc
