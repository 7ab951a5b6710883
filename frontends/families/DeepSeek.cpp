// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V2 (arXiv 2405.04434) and V3 (arXiv 2412.19437): latent attention, and experts in groups beside some that
// every token passes.
//
//   c = norm(kv_a x)            the latent: what keys and values of all heads are made of, and what is kept
//   r = rope(kv_a' x)           one key by position for all heads
//   k_h = [K_h c | r]           v_h = V_h c                                  K_h and V_h are rows of kv_b
//   score = q_h . k_h = (K_h^T q_h) . c + rope(q_h') . r                     so queries move into the latent's space,
//   out_h = sum p v_h = V_h (sum p c)                                        and results out of it
//
// So [c | r] is the only key and the only value, which all heads share. The same is done for one token and for many:
// their bits are to be the same, and matrices of a head's own keys and values would be larger than what they are made
// of.
#include "frontends/families/Families.h"
#include "frontends/families/MoeModel.h"

#include <algorithm>
#include <cmath>

namespace talc {

namespace {

struct DeepSeek : MoeModel {
  DeepSeek(const ModelConfig &config, const LlamaDefaults &defaults, int64_t routed, std::optional<int64_t> perToken)
      : MoeModel(config, defaults, {"mlp.experts", "mlp.gate", "gate_proj", "up_proj", "down_proj"}) {
    if (infini)
      config.unsupported("infini_attention", "is for attention whose heads have keys of their own");
    readLatent(config);
    inputBias = outputBias = config.flag("attention_bias", false);
    config.refuseFlag("mlp_bias", "the family has none");
    readWindows(config, {}, [](int64_t) { return false; });
    readRopes(config);
    readScale(config);
    if (config.integer("moe_layer_freq", 1, ModelConfig::layerCount) != 1)
      config.unsupported("moe_layer_freq", "talc knows mixtures in all layers behind the first");
    readExperts(config, "n_routed_experts", routed, perToken);
  }

  void readLatent(const ModelConfig &config) {
    queryLatent = config.integerOrNull("q_lora_rank", 1536, ModelConfig::size).value_or(0);
    latent = config.integer("kv_lora_rank", 512, ModelConfig::size);
    plain = config.integer("qk_nope_head_dim", 128, ModelConfig::headCount);
    turned = config.integer("qk_rope_head_dim", 64, ModelConfig::headCount);
    valueWidth = config.integer("v_head_dim", 128, ModelConfig::headCount);
    separate = config.flag("separate_kv_b", false);
    headWidth = turned;
    keyValueHeads = 1;
    if (config.has("partial_rotary_factor") && config.positive("partial_rotary_factor", 1) != 1)
      config.unsupported("partial_rotary_factor", "qk_rope_head_dim says what is turned");
  }

  // Longer contexts sharpen the softmax.
  void readScale(const ModelConfig &config) {
    scale = 1 / std::sqrt(static_cast<double>(plain + turned));
    auto parameters = config.inner(config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
    bool scaled = !ropes.empty() && ropes.front() && !std::holds_alternative<std::monostate>(ropes.front()->scaling);
    if (!parameters || !scaled || !parameters->has("mscale_all_dim"))
      return;
    double factor = parameters->positive("factor", 1), weight = parameters->number("mscale_all_dim", 0, 0, 1e30);
    double growth = factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
    scale *= growth * growth;
  }

  void readMixture(const ModelConfig &config, int64_t inner, int64_t dense, int64_t shared, double factor) {
    expertInner = config.integer("moe_intermediate_size", inner, ModelConfig::size);
    denseLayers = config.integer("first_k_dense_replace", dense, {0, ModelConfig::layerCount.maximum});
    int64_t count = config.integerOrNull("n_shared_experts", shared, {0, 4096}).value_or(0);
    sharedInner = count * expertInner;
    routeFactor = config.positive("routed_scaling_factor", factor);
  }

  void readGroups(const ModelConfig &config, std::optional<int64_t> groups, std::optional<int64_t> topGroups) {
    routing.count = chosen;
    routing.groups = config.integerOrNull("n_group", groups, {1, experts}).value_or(1);
    routing.topkGroups = std::min(
        config.integerOrNull("topk_group", topGroups, {1, routing.groups}).value_or(routing.groups), routing.groups);
    if (experts % routing.groups != 0)
      config.invalid("n_group", std::to_string(routing.groups) + " groups do not divide " + std::to_string(experts) +
                                    " experts (n_routed_experts)");
    else if (chosen > experts / routing.groups * routing.topkGroups)
      config.invalid("topk_group", std::to_string(routing.topkGroups) + " groups have fewer experts than the " +
                                       std::to_string(chosen) + " of a token (num_experts_per_tok)");
  }

  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const override {
    x = g.add(x, attention(g, norm(g, x, "input_layernorm"), number));
    Tensor y = norm(g, x, "post_attention_layernorm");
    return g.add(x, number < denseLayers ? feedForward(g, y) : mixture(g, y));
  }

  Tensor mixture(GraphBuilder &g, Tensor x) const {
    Tensor all = mixed(g, x);
    if (sharedInner == 0)
      return all;
    auto linear = [&](Tensor x, const std::string &name, int64_t outputs) {
      return g.linear(x, g.weight("mlp.shared_experts." + name + ".weight", {outputs, x.width()},
                                  "n_shared_experts by moe_intermediate_size"));
    };
    Tensor gate = g.activation(linear(x, "gate_proj", sharedInner), activation);
    return g.add(all, linear(g.mul(gate, linear(x, "up_proj", sharedInner)), "down_proj", width));
  }

  // The part of a head that is turned, as talc.rope takes it.
  Weight turnedRows(GraphBuilder &g, Weight rows) const {
    return interleaved ? g.halfSplit(rows, turned, turned) : rows;
  }

  Weight weight(GraphBuilder &g, const std::string &name, int64_t outputs, int64_t inputs) const {
    return g.weight("self_attn." + name + ".weight", {outputs, inputs}, "sizes of latent attention");
  }
  Tensor latentNorm(GraphBuilder &g, Tensor x, const std::string &name) const {
    constexpr double epsilon = 1e-6;
    return g.rmsNorm(x, g.weight("self_attn." + name + ".weight", {x.width()}), epsilon);
  }

  // K_h^T and V_h of all heads, which files have together or apart.
  struct HeadMatrices {
    Weight keys, values;
  };

  HeadMatrices headMatrices(GraphBuilder &g) const {
    if (separate)
      return {weight(g, "k_b_proj", heads * latent, plain), weight(g, "v_b_proj", heads * valueWidth, latent)};
    int64_t period = plain + valueWidth;
    Weight both = weight(g, "kv_b_proj", heads * period, latent);
    std::vector<Weight> keys;
    for (int64_t head = 0; head < heads; ++head)
      keys.push_back(g.transpose(g.rows(both, head * period, plain, heads * period)));
    return {g.concat("self_attn.kv_b_proj.keys", keys), g.rows(both, plain, valueWidth, period)};
  }

  // Each head's query, in the space of [c | r].
  Tensor latentQueries(GraphBuilder &g, Tensor x, Weight keys, int64_t number) const {
    int64_t each = plain + turned;
    if (queryLatent > 0) {
      Weight first = weight(g, "q_a_proj", queryLatent, width);
      Weight bias = inputBias ? g.weight("self_attn.q_a_proj.bias", {queryLatent}) : Weight();
      x = latentNorm(g, g.linear(x, first, bias), "q_a_layernorm");
    }
    Weight all = weight(g, queryLatent > 0 ? "q_b_proj" : "q_proj", heads * each, x.width());
    Tensor q = g.linear(x, g.rows(all, 0, plain, each));
    Tensor byPosition = g.linear(x, turnedRows(g, g.rows(all, plain, turned, each)));
    q = g.groupedLinear(q, keys, heads);
    return g.join(q, g.rope(byPosition, heads, *ropes[number]), heads);
  }

  // [c | r]
  Tensor latentKeys(GraphBuilder &g, Tensor x, int64_t number) const {
    int64_t all = latent + turned;
    Weight both = weight(g, "kv_a_proj_with_mqa", all, width);
    Weight bias = inputBias ? g.weight("self_attn.kv_a_proj_with_mqa.bias", {all}) : Weight();
    auto part = [&](Weight of, int64_t first, int64_t count) { return of ? g.rows(of, first, count, all) : Weight(); };
    Tensor c = g.linear(x, part(both, 0, latent), part(bias, 0, latent));
    Weight turn = turnedRows(g, part(both, latent, turned));
    Weight turnBias = bias ? turnedRows(g, part(bias, latent, turned)) : Weight();
    Tensor r = g.rope(g.linear(x, turn, turnBias), 1, *ropes[number]);
    return g.join(latentNorm(g, c, "kv_a_layernorm"), r, 1);
  }

  Tensor attention(GraphBuilder &g, Tensor x, int64_t number) const override {
    HeadMatrices matrices = headMatrices(g);
    Tensor q = latentQueries(g, x, matrices.keys, number), k = latentKeys(g, x, number);
    Tensor found = g.cachedAttention(q, k, k, {heads, 1, scale});
    Tensor values = g.groupedLinear(found, matrices.values, heads);
    return linear(g, values, "self_attn.o_proj", width, outputBias, "hidden_size by heads");
  }

  int64_t queryLatent, latent, plain, turned, valueWidth, denseLayers, sharedInner;
  double routeFactor;
  bool interleaved = true, separate = false;
  Routing routing = {};
};

struct DeepSeek2 : DeepSeek {
  explicit DeepSeek2(const ModelConfig &config) : DeepSeek(config, common(), 64, {}) {
    readMixture(config, 1407, 0, 2, 1.0);
    config.refuseFlag("norm_topk_prob", "programs differ in what it means beside routed_scaling_factor");
    std::string method = config.text("topk_method", "greedy");
    if (method == "group_limited_greedy")
      readGroups(config, {}, {});
    else if (method == "greedy")
      routing.count = chosen;
    else
      config.unsupported("topk_method", "talc knows greedy and group_limited_greedy");
    if (config.text("scoring_func", "softmax") != "softmax")
      config.unsupported("scoring_func", "the family has softmax");
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults;
    defaults.headWidth = 64;  // of its own, whatever the configuration says
    return defaults;
  }

  Tensor routes(GraphBuilder &g, Tensor x) const override {
    return g.scale(g.route(g.softmax(scores(g, x)), routing), routeFactor);
  }
};

// Experts are selected by their score and a bias, which balances their load.
struct DeepSeek3 : DeepSeek {
  explicit DeepSeek3(const ModelConfig &config) : DeepSeek(config, common(), 256, 8) {
    readMixture(config, 2048, 3, 1, 2.5);
    readGroups(config, 8, 4);
    routing.groupBest = std::min<int64_t>(2, experts / routing.groups);
    routing.normalized = config.flag("norm_topk_prob", true);
    interleaved = config.flag("rope_interleave", true);
    if (config.text("topk_method", "noaux_tc") != "noaux_tc")
      config.unsupported("topk_method", "the family has noaux_tc");
    if (config.text("scoring_func", "sigmoid") != "sigmoid")
      config.unsupported("scoring_func", "the family has sigmoid");
  }

  static LlamaDefaults common() {
    LlamaDefaults defaults = DeepSeek2::common();
    defaults.vocabulary = 129280;
    defaults.width = 7168;
    defaults.inner = 18432;
    defaults.layers = 61;
    defaults.heads = 128;
    defaults.positions = 4096;
    return defaults;
  }

  Tensor routes(GraphBuilder &g, Tensor x) const override {
    Routing biased = routing;
    biased.bias = g.weight("mlp.gate.e_score_correction_bias", {experts}, "n_routed_experts");
    return g.scale(g.route(g.activation(scores(g, x), Activation::Sigmoid), biased), routeFactor);
  }
};

}  // namespace

void defineDeepSeek2(GraphBuilder &g, const ModelConfig &config) {
  defineAs<DeepSeek2>(g, config);
}

void defineDeepSeek3(GraphBuilder &g, const ModelConfig &config) {
  defineAs<DeepSeek3>(g, config);
}

}  // namespace talc
