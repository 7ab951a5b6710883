// SPDX-License-Identifier: Apache-2.0
// Writes attention: projections, norms of heads, rope, scores, and the projection of results.
#include "frontends/families/decoder/HeadAttention.h"

#include <cmath>

namespace talc {

void HeadAttention::prepare(GraphBuilder &g) {
  if (alibi)
    bias = g.alibi(sizes.heads, alibi->factor);
  if (growth)
    factors = g.steps(growth->period, growth->shift,
                      [&](int64_t step) { return 1 + growth->weight * std::log1p(static_cast<double>(step)); });
}

// The matrix of ones repeats a position's factor for all features.
Tensor HeadAttention::grown(GraphBuilder &g, Tensor queries, int64_t layer) const {
  if (!factors || (growth->needsNoRope && ropes[layer]))
    return queries;
  return g.mul(queries, g.linear(g.position(factors), g.filled({queries.width(), 1}, 1)));
}

Tensor HeadAttention::clipped(GraphBuilder &g, Tensor x) const {
  return clip > 0 ? g.clamp(x, clip) : x;
}

HeadAttention::Turned HeadAttention::turn(GraphBuilder &g, Tensor prepared, HeadPart part, int64_t layer) const {
  int64_t heads = part == HeadPart::Query ? sizes.heads : sizes.keyValueHeads;
  auto normed = [&](Tensor x) {
    if (norms.needsRope && !ropes[layer])
      return x;
    return norms.write(g, x, part == HeadPart::Query ? norms.query : norms.key, heads,
                       [&](Weight weight) { return projections.ordered(g, weight, sizes); });
  };
  auto turned = [&](Tensor x) { return ropes[layer] ? g.rope(x, heads, *ropes[layer]) : x; };
  Tensor x = projections.project(g, prepared, sizes, part);
  if (norms.isBehindRope)
    return {x, normed(turned(x))};
  x = clipped(g, normed(x));
  return {x, turned(x)};
}

Tensor HeadAttention::operator()(GraphBuilder &g, Tensor x, int64_t layer) const {
  Tensor prepared = projections.prepare(g, x, sizes);
  Turned q = turn(g, prepared, HeadPart::Query, layer), k = turn(g, prepared, HeadPart::Key, layer);
  Tensor v = clipped(g, projections.project(g, prepared, sizes, HeadPart::Value));
  double divisor = isScaledByLayer ? static_cast<double>(layer + 1) : 1;
  Attention kind = {sizes.heads, sizes.keyValueHeads, scale / divisor, mask, windows[layer]};
  kind.cap = cap;
  kind.bias = bias;
  kind.absolute = alibi && alibi->factor > 0;
  if (!sinks.empty())
    kind.sinks = g.weight(sinks, {sizes.heads}, "num_attention_heads");
  Tensor mixed = g.cachedAttention(grown(g, q.turned, layer), k.turned, v, kind);
  if (infini) {
    Weight gates = g.weight("self_attn.infini_beta", {sizes.heads}, "a gate for each head");
    mixed = g.segmentMemory(mixed, q.plain, k.plain, v,
                            {sizes.heads, sizes.keyValueHeads, gates, infini->delta, infini->localFirst});
  }
  if (projections.hasGates)
    mixed = g.mul(mixed, g.activation(projections.gates(g, x, sizes), Activation::Sigmoid));
  if (!gate.empty())
    mixed = g.mul(mixed,
                  g.activation(Linear{gate}.write(g, x, mixed.width(), "heads by hidden_size"), Activation::Sigmoid));
  return projections.output.write(g, outputNorm.write(g, mixed), x.width(), "hidden_size by heads");
}

}  // namespace talc
