// SPDX-License-Identifier: Apache-2.0
// Reads and writes the gated delta net.
#include "frontends/families/decoder/GatedDelta.h"

#include "frontends/ModelConfig.h"
#include "frontends/families/decoder/Projections.h"

#include <cmath>

namespace talc {

void GatedDelta::read(const ModelConfig &config, int64_t defaultKeyHeads, int64_t defaultValueHeads,
                      int64_t defaultKeyWidth, int64_t defaultValueWidth) {
  auto integer = [&](const char *key, int64_t fallback) {
    return config.integerOrNull(key, fallback, ModelConfig::headCount).value_or(fallback);
  };
  keyHeads = integer("linear_num_key_heads", defaultKeyHeads);
  valueHeads = integer("linear_num_value_heads", defaultValueHeads);
  keyWidth = integer("linear_key_head_dim", defaultKeyWidth);
  valueWidth = integer("linear_value_head_dim", defaultValueWidth);
  taps = config.integer("linear_conv_kernel_dim", 4, {2, 16});
  if (valueHeads % keyHeads != 0)
    config.invalid("linear_num_key_heads", std::to_string(keyHeads) + " key heads do not divide " +
                                               std::to_string(valueHeads) + " value heads");
}

// Files have for each key head its query, its key, the values of its group, and their gates.
GatedDelta::Inputs GatedDelta::inputsByKeyHead(GraphBuilder &g, int64_t width) const {
  const int64_t group = valueHeads / keyHeads, values = group * valueWidth, period = 2 * keyWidth + 2 * values;
  Weight rows = g.weight(name + ".in_proj_qkvz.weight", {keyHeads * period, width}, "q, k, v and z by hidden_size"),
         others = g.weight(name + ".in_proj_ba.weight", {2 * valueHeads, width}, "b and a by hidden_size");
  auto part = [&](int64_t first, int64_t count) { return g.rows(rows, first, count, period); };
  return {g.concat(name + ".qkv", {part(0, keyWidth), part(keyWidth, keyWidth), part(2 * keyWidth, values)}),
          part(2 * keyWidth + values, values), g.rows(others, 0, group, 2 * group),
          g.rows(others, group, group, 2 * group)};
}

GatedDelta::Inputs GatedDelta::inputsInOrder(GraphBuilder &g, int64_t width) const {
  auto weight = [&](const char *kind, int64_t rows) {
    return g.weight(name + ".in_proj_" + kind + ".weight", {rows, width}, "heads by hidden_size");
  };
  return {weight("qkv", 2 * keys() + values()), weight("z", values()), weight("b", valueHeads),
          weight("a", valueHeads)};
}

GatedDelta::Inputs GatedDelta::inputsApart(GraphBuilder &g, int64_t width) const {
  auto weight = [&](const char *kind, int64_t rows) {
    return g.weight(name + "." + kind + "_proj.weight", {rows, width}, "heads by hidden_size");
  };
  return {g.concat(name + ".qkv", {weight("q", keys()), weight("k", keys()), weight("v", values())}),
          weight("g", values()), weight("b", valueHeads), weight("a", valueHeads)};
}

GatedDelta::Inputs GatedDelta::inputs(GraphBuilder &g, int64_t width) const {
  switch (packing) {
  case Packing::ByKeyHead:
    return inputsByKeyHead(g, width);
  case Packing::InOrder:
    return inputsInOrder(g, width);
  case Packing::Apart:
    return inputsApart(g, width);
  }
  return {};
}

Weight GatedDelta::convWeight(GraphBuilder &g) const {
  if (packing != Packing::Apart)
    return g.transpose(g.stackedWeight(name + ".conv1d.weight", {2 * keys() + values(), 1, taps}));
  auto weight = [&](const char *kind, int64_t rows) {
    return g.stackedWeight(name + "." + kind + "_conv1d.weight", {rows, 1, taps});
  };
  return g.transpose(g.concat(name + ".conv1d", {weight("q", keys()), weight("k", keys()), weight("v", values())}));
}

Tensor GatedDelta::operator()(GraphBuilder &g, Tensor x, int64_t) const {
  constexpr double squares = 1e-6;  // what the l2 norm adds to a sum of them
  Inputs in = inputs(g, x.width());
  auto ofHeads = [&](const char *kind) { return g.weight(name + kind, {valueHeads}, "value heads"); };
  Tensor all = g.causalConv(g.linear(x, in.all), {convWeight(g), {}, /*hasSilu=*/true});
  Tensor queries = g.l2Norm(g.slice(all, 0, keys()), squares, keyHeads, 1 / std::sqrt(static_cast<double>(keyWidth))),
         heads = g.l2Norm(g.slice(all, keys(), keys()), squares, keyHeads);
  Tensor decay = g.activation(g.linear(x, in.decay, ofHeads(".dt_bias")), Activation::Softplus),
         beta = g.activation(g.linear(x, in.beta), Activation::Sigmoid);
  if (betaFactor != 1)
    beta = g.scale(beta, betaFactor);
  Recurrence kind = {valueHeads, keyHeads, /*isDelta=*/true, decay, ofHeads(".A_log"), beta};
  Tensor y = g.recurrence(queries, heads, g.slice(all, 2 * keys(), values()), kind);
  y = g.rmsNorm(y, g.weight(name + "." + norm + ".weight", {valueWidth}, "width of value heads"), epsilon, valueHeads);
  y = g.mul(y, g.activation(g.linear(x, in.gate), Activation::Silu));
  return Linear{name + "." + output}.write(g, y, x.width(), "hidden_size by value heads");
}

}  // namespace talc
