// SPDX-License-Identifier: Apache-2.0
// Reads and writes Mamba-2's mixer.
#include "frontends/families/decoder/StateSpace.h"

#include "frontends/ModelConfig.h"
#include "frontends/families/decoder/Projections.h"

#include <cmath>

namespace talc {

// The bounds of dt. Values of the lower one above 0 are not seen in files, and transformers applies it in prompts
// alone.
static double readLongestStep(const ModelConfig &config) {
  std::vector<double> bounds = config.numbers("time_step_limit");
  if (bounds.empty())
    return 0;
  if (bounds.size() != 2 || bounds[0] != 0 || !(bounds[1] > 0)) {
    config.unsupported("time_step_limit", "talc knows steps without a lower bound, [0, limit]");
    return 0;
  }
  return std::isinf(bounds[1]) ? 0 : bounds[1];
}

void StateSpace::read(const ModelConfig &config, int64_t width, const StateSpaceDefaults &defaults) {
  const StateSpaceKeys &keys = defaults.keys;
  heads = config.integer(keys.heads, defaults.heads, ModelConfig::headCount);
  groups = config.integer(keys.groups, defaults.groups, ModelConfig::headCount);
  state = config.integer(keys.state, defaults.state, ModelConfig::headCount);
  taps = config.integer(keys.taps, 4, {2, 16});
  hasConvBias = config.flag(keys.convBias, true);
  config.refuseFlag(keys.bias, "talc knows projections of this mixer without biases");
  bool isAuto = defaults.headWidth == 0 && (!config.has(keys.headWidth) || config.isText(keys.headWidth));
  if (isAuto && config.text(keys.headWidth, "auto") != "auto")
    config.unsupported(keys.headWidth, "talc knows numbers and auto");
  int64_t expanded = keys.expand ? config.integer(keys.expand, 2, {1, 64}) * width : 0;
  headWidth = isAuto ? expanded / heads : config.integer(keys.headWidth, defaults.headWidth, ModelConfig::headCount);
  if (expanded > 0 && expanded != heads * headWidth)
    config.invalid(keys.heads, std::to_string(heads) + " heads of " + std::to_string(headWidth) + " are not " +
                                   std::to_string(expanded) + " features (" + keys.expand + " * hidden_size)");
  if (heads % groups != 0)
    config.invalid(keys.groups, std::to_string(groups) + " groups do not divide " + std::to_string(heads) + " heads");
  longestStep = readLongestStep(config);
  config.passOver({keys.chunk});  // how programs cut prompts
}

Tensor StateSpace::project(GraphBuilder &g, Tensor x, Weight matrix, Rows rows, double factor, Weight bias) const {
  // A bias is added behind the factor.
  if (factor != 1 && bias)
    return g.linear(g.scale(x, factor), g.rows(matrix, rows.first, rows.count, rowCount()), bias);
  Tensor y = g.linear(x, g.rows(matrix, rows.first, rows.count, rowCount()), bias);
  return factor == 1 ? y : g.scale(y, factor);
}

// `rows` of x, B and C, which stand behind z.
Tensor StateSpace::convolve(GraphBuilder &g, Tensor x, Weight matrix, Rows rows, double factor,
                            const char *stateName) const {
  const int64_t all = inner() + 2 * groups * state;
  Tensor y = project(g, x, matrix, {inner() + rows.first, rows.count}, factor);
  auto part = [&](Weight weight) { return rows.count == all ? weight : g.rows(weight, rows.first, rows.count, all); };
  CausalConv conv = {g.transpose(part(g.stackedWeight(name + ".conv1d.weight", {all, 1, taps}))), {}, /*hasSilu=*/true};
  if (hasConvBias)
    conv.bias = part(g.weight(name + ".conv1d.bias", {all}));
  return g.causalConv(y, conv, stateName);
}

StateSpace::Parts StateSpace::parts(GraphBuilder &g, Tensor x, Weight matrix) const {
  const int64_t shared = groups * state;
  if (factors.x == factors.b && factors.b == factors.c) {
    Tensor all = convolve(g, x, matrix, {0, inner() + 2 * shared}, factors.x, "conv_state");
    return {g.slice(all, 0, inner()), g.slice(all, inner(), shared), g.slice(all, inner() + shared, shared)};
  }
  return {convolve(g, x, matrix, {0, inner()}, factors.x, "x_state"),
          convolve(g, x, matrix, {inner(), shared}, factors.b, "b_state"),
          convolve(g, x, matrix, {inner() + shared, shared}, factors.c, "c_state")};
}

Tensor StateSpace::gated(GraphBuilder &g, Tensor y, Tensor gate) const {
  Tensor open = g.activation(gate, Activation::Silu);
  auto normed = [&](Tensor x) {
    return g.rmsNorm(x, g.weight(name + ".norm.weight", {inner()}, "heads by their width"), epsilon, groups);
  };
  if (normPlace == NormPlace::BeforeGate)
    return g.mul(normed(y), open);
  Tensor product = g.mul(y, open);
  return normPlace == NormPlace::None ? product : normed(product);
}

Tensor StateSpace::operator()(GraphBuilder &g, Tensor x, int64_t) const {
  Tensor u = factors.input == 1 ? x : g.scale(x, factors.input);
  Weight matrix = g.weight(name + ".in_proj.weight", {rowCount(), x.width()}, "z, x, B, C and dt by hidden_size");
  auto ofHeads = [&](const char *kind) { return g.weight(name + kind, {heads}, "heads"); };
  Tensor gate = project(g, u, matrix, {0, inner()}, factors.gate);
  Parts made = parts(g, u, matrix);
  Tensor step = project(g, u, matrix, {rowCount() - heads, heads}, factors.step, ofHeads(".dt_bias"));
  step = g.activation(step, Activation::Softplus);
  if (longestStep > 0)
    step = g.clamp(step, longestStep);
  Recurrence kind = {heads, groups, /*isDelta=*/false, step, ofHeads(".A_log"), step, ofHeads(".D")};
  Tensor y = gated(g, g.recurrence(made.c, made.b, made.x, kind), gate);
  y = Linear{name + ".out_proj", hasOutputBias}.write(g, y, x.width(), "hidden_size by heads");
  return factors.output == 1 ? y : g.scale(y, factors.output);
}

}  // namespace talc
