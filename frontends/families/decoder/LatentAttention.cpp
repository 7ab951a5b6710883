// SPDX-License-Identifier: Apache-2.0
// Reads and writes latent attention.
#include "frontends/families/decoder/LatentAttention.h"

#include "frontends/ModelConfig.h"

#include <cmath>

namespace talc {

void LatentAttention::readWidths(const ModelConfig &config, const LatentWidths &defaults) {
  std::optional<int64_t> queries;
  if (defaults.queries > 0)
    queries = defaults.queries;
  queryLatent = config.integerOrNull("q_lora_rank", queries, ModelConfig::size).value_or(0);
  latent = config.integer("kv_lora_rank", defaults.latent, ModelConfig::size);
  plain = config.integer("qk_nope_head_dim", defaults.plain, ModelConfig::headCount);
  turned = config.integer("qk_rope_head_dim", defaults.turned, ModelConfig::headCount);
  valueWidth = config.integerOrNull("v_head_dim", defaults.value, ModelConfig::headCount).value_or(defaults.value);
  separate = config.flag("separate_kv_b", false);
  if (config.has("partial_rotary_factor") && config.positive("partial_rotary_factor", 1) != 1)
    config.unsupported("partial_rotary_factor", "qk_rope_head_dim says what is turned");
}

void LatentAttention::readScale(const ModelConfig &config) {
  scale = 1 / std::sqrt(static_cast<double>(plain + turned));
  auto parameters = config.inner(config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  bool scaled = !ropes.empty() && ropes.front() && !std::holds_alternative<std::monostate>(ropes.front()->scaling);
  if (!parameters || !scaled || !parameters->has("mscale_all_dim"))
    return;
  double factor = parameters->positive("factor", 1), weight = parameters->number("mscale_all_dim", 0, 0, 1e30);
  double growth = factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
  scale *= growth * growth;
}

// The part of a head that is turned, as talc.rope takes it.
Weight LatentAttention::turnedRows(GraphBuilder &g, Weight rows) const {
  return interleaved ? g.halfSplit(rows, turned, turned) : rows;
}

Weight LatentAttention::weight(GraphBuilder &g, const std::string &name, int64_t outputs, int64_t inputs) const {
  return g.weight("self_attn." + name + ".weight", {outputs, inputs}, "sizes of latent attention");
}

Tensor LatentAttention::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  constexpr double epsilon = 1e-6;
  return g.rmsNorm(x, g.weight("self_attn." + name + ".weight", {x.width()}), epsilon);
}

// K_h^T and V_h of all heads, which files have together or apart.
LatentAttention::HeadMatrices LatentAttention::headMatrices(GraphBuilder &g) const {
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
Tensor LatentAttention::latentQueries(GraphBuilder &g, Tensor x, Weight keys, int64_t layer) const {
  int64_t each = plain + turned;
  if (queryLatent > 0) {
    Weight first = weight(g, "q_a_proj", queryLatent, x.width());
    Weight bias = inputBias ? g.weight("self_attn.q_a_proj.bias", {queryLatent}) : Weight();
    x = norm(g, g.linear(x, first, bias), "q_a_layernorm");
  }
  Weight all = weight(g, queryLatent > 0 ? "q_b_proj" : "q_proj", heads * each, x.width());
  Tensor q = g.linear(x, g.rows(all, 0, plain, each));
  Tensor byPosition = g.linear(x, turnedRows(g, g.rows(all, plain, turned, each)));
  q = g.groupedLinear(q, keys, heads);
  return g.join(q, g.rope(byPosition, heads, *ropes[layer]), heads);
}

// [c | r]
Tensor LatentAttention::latentKeys(GraphBuilder &g, Tensor x, int64_t layer) const {
  int64_t all = latent + turned;
  Weight both = weight(g, "kv_a_proj_with_mqa", all, x.width());
  Weight bias = inputBias ? g.weight("self_attn.kv_a_proj_with_mqa.bias", {all}) : Weight();
  auto part = [&](Weight of, int64_t first, int64_t count) { return of ? g.rows(of, first, count, all) : Weight(); };
  Tensor c = g.linear(x, part(both, 0, latent), part(bias, 0, latent));
  Weight turn = turnedRows(g, part(both, latent, turned));
  Weight turnBias = bias ? turnedRows(g, part(bias, latent, turned)) : Weight();
  Tensor r = g.rope(g.linear(x, turn, turnBias), 1, *ropes[layer]);
  return g.join(norm(g, c, "kv_a_layernorm"), r, 1);
}

Tensor LatentAttention::operator()(GraphBuilder &g, Tensor x, int64_t layer) const {
  HeadMatrices matrices = headMatrices(g);
  Tensor q = latentQueries(g, x, matrices.keys, layer), k = latentKeys(g, x, layer);
  Tensor found = g.cachedAttention(q, k, k, {heads, 1, scale});
  Tensor values = g.groupedLinear(found, matrices.values, heads);
  return Linear{"self_attn.o_proj", outputBias}.write(g, values, x.width(), "hidden_size by heads");
}

}  // namespace talc
