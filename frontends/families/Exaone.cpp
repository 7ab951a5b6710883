// SPDX-License-Identifier: Apache-2.0
// EXAONE 3 (arXiv 2408.03541): Llama with other names. EXAONE 4 (arXiv 2507.11407): norms behind the parts, queries and
// keys normalized head by head, windows, and no positions in layers without one; the same with experts; and Kolibri.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

namespace talc {

// The one of two names of a key that a configuration has; both if they say the same.
static const char *knownKey(const ModelConfig &config, const char *key, const char *other) {
  config.passOver(other, key);
  return config.has(key) ? key : other;
}

void defineExaone(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 102400,
                     .inner = 14336,
                     .positions = 4096,
                     .keyValueHeads = 8,
                     .epsilon = 1e-5,
                     .rope = {.theta = 500000},
                     .keys = {.layers = knownKey(config, "num_hidden_layers", "num_layers"),
                              .epsilon = knownKey(config, "rms_norm_eps", "layer_norm_epsilon"),
                              .activation = knownKey(config, "hidden_act", "activation_function")},
                     .padding = 0});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.readRopes();
  d.layersName = "transformer.h";
  d.embedding.table = "transformer.wte";
  d.head.norm = "transformer.ln_f";
  d.attentionNorms.input = "ln_1";
  d.innerNorms.input = "ln_2";
  d.attention.projections.nameApart("attn.attention.", "_proj", "attn.attention.out_proj");
  d.feedForward.gate.name = "mlp.c_fc_0";
  d.feedForward.up.name = "mlp.c_fc_1";
  d.feedForward.down.name = "mlp.c_proj";
  d.define(g);
}

// Windows; layers without one have no positions if there are windows at all.
static void readExaone4(Decoder &d) {
  const ModelConfig &config = d.config;
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  std::optional<int64_t> window = d.windowOr(4096);
  // A text such as LLLG says what layer_types says as well.
  bool isText = config.isText("sliding_window_pattern");
  if (isText && !config.has("layer_types") && window)
    config.unsupported("sliding_window_pattern", "is a text, but the configuration lacks layer_types");
  int64_t every = isText ? 4 : config.integer("sliding_window_pattern", 4, ModelConfig::layerCount);
  d.readWindows(window, exceptEvery(every));
  d.readRopes();
  if (window)
    d.dropRopes([&](int64_t layer) { return d.attention.windows[layer] == 0; });
}

void defineExaone4(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 102400, .inner = 16384, .positions = 2048, .keyValueHeads = 32, .epsilon = 1e-5});
  readExaone4(d);
  d.useOutputNorms("post_attention_layernorm", "post_feedforward_layernorm");
  d.define(g);
}

// EXAONE 4's attention, with norms before the parts, and DeepSeek V3's routing under other keys.
void defineExaoneMoe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 102400, .inner = 16384, .positions = 2048, .keyValueHeads = 32, .epsilon = 1e-5});
  readExaone4(d);
  MoeLayer moe = readQwenMoe(d, {.experts = 64, .perToken = 8, .inner = 1024, .isNormalized = true});
  readBiasedRouting(moe, config, 1, 1);
  moe.selectionBias = "mlp.e_score_correction_bias";
  moe.factor = config.positive("routed_scaling_factor", 2.5);
  int64_t shared = config.integer("num_shared_experts", 1, {0, 4096});
  if (shared > 0)
    moe.shared = d.feedForward.at("mlp.shared_experts", shared * moe.inner);
  useDeepSeekMoe(d, moe, {.denseLayers = 1});
  d.define(g);
}

// Experts are selected by the router's results and a bias; sigmoids of the results are the weights.
static Tensor routeByLogits(GraphBuilder &g, Tensor x, Tensor logits, const MoeLayer &moe) {
  constexpr double huge = 1e38;  // makes a 1 of every probability
  Weight matrix = g.weight("mlp.gate.weight", {moe.experts, x.width()});
  Weight bias = g.weight("moe.router.expert_bias", {moe.experts}, "experts");
  Tensor best = g.route(g.softmax(g.linear(x, matrix, bias)), moe.routing.count, false);
  Tensor chosen = g.clamp(g.scale(best, huge), 1);
  return g.route(g.mul(g.activation(logits, Activation::Sigmoid), chosen), moe.routing.count, moe.routing.normalized);
}

// Kolibri: EXAONE 4's attention, norms around each part.
void defineKolibri1(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128000,
                     .width = 2560,
                     .layers = 50,
                     .heads = 48,
                     .positions = 262144,
                     .keyValueHeads = 4,
                     .headWidth = 128,
                     .keys = {.inner = nullptr}});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  d.useHeadNorms(HeadNorms::Scale::Shared);
  std::optional<int64_t> window = d.windowOr(513);
  d.readWindows(window, exceptEvery(5));
  d.readRopes();
  if (window)
    d.dropRopes([&](int64_t layer) { return d.attention.windows[layer] == 0; });
  d.attentionNorms.output = "post_attn_norm";
  d.innerNorms.output = "post_ffn_norm";
  MoeLayer moe = readQwenMoe(d, {.experts = 384, .perToken = 6, .inner = 512});
  moe.otherRouting = [moe](GraphBuilder &g, Tensor x, Tensor logits) { return routeByLogits(g, x, logits, moe); };
  moe.shared =
      d.feedForward.at("mlp.shared_experts", config.integer("shared_expert_intermediate_size", 512, ModelConfig::size));
  d.replaceFeedForward(inEveryLayer(), moe);
  d.define(g);
}

}  // namespace talc
