// SPDX-License-Identifier: Apache-2.0
// Writes MoE layers: the router, the weights of experts as files have them, and shared layers.
#include "frontends/families/decoder/MoeLayer.h"

#include "frontends/ModelConfig.h"

#include <algorithm>

namespace talc {

void MoeLayer::useMixtralNames() {
  router.name = "block_sparse_moe.gate";
  tensors.each = "block_sparse_moe.experts";
  tensors.gate = "w1";
  tensors.up = "w3";
  tensors.down = "w2";
}

void MoeLayer::readCounts(const ModelConfig &config, const char *countKey, int64_t count,
                          std::optional<int64_t> perToken, const char *perTokenKey) {
  experts = config.integer(countKey, count, {1, 4096});
  if (!perToken && !config.has(perTokenKey))
    config.invalid(perTokenKey, "is missing");
  routing.count = config.integer(perTokenKey, perToken.value_or(1), {1, experts});
}

void MoeLayer::readGroups(const ModelConfig &config, std::optional<int64_t> groups, std::optional<int64_t> topGroups) {
  routing.groups = config.integerOrNull("n_group", groups, {1, experts}).value_or(1);
  routing.topkGroups = std::min(
      config.integerOrNull("topk_group", topGroups, {1, routing.groups}).value_or(routing.groups), routing.groups);
  if (experts % routing.groups != 0)
    config.invalid("n_group", std::to_string(routing.groups) + " groups do not divide " + std::to_string(experts) +
                                  " experts (n_routed_experts)");
  else if (routing.count > experts / routing.groups * routing.topkGroups)
    config.invalid("topk_group", std::to_string(routing.topkGroups) + " groups have fewer experts than the " +
                                     std::to_string(routing.count) + " of a token (num_experts_per_tok)");
}

//===--- weights ------------------------------------------------------------------------------------------------===//

// The weights `name`.<kind> of all experts, concatenated.
Weight MoeLayer::concatenated(GraphBuilder &g, const std::string &name, const std::string &kind,
                              const GraphBuilder::Shape &shape) const {
  std::vector<Weight> parts;
  for (int64_t expert = 0; expert < experts; ++expert)
    parts.push_back(g.weight(tensors.each + "." + std::to_string(expert) + "." + name + "." + kind, shape));
  return g.concat(tensors.each + "." + name + (kind == "weight" ? "" : "." + kind), parts);
}

Experts MoeLayer::expertsApart(GraphBuilder &g, int64_t width) const {
  auto matrix = [&](const std::string &name, int64_t rows, int64_t columns) {
    return concatenated(g, name, "weight", {rows, columns});
  };
  Experts all = {matrix(tensors.gate, inner, width), matrix(tensors.up, inner, width),
                 matrix(tensors.down, width, inner), activation, routing.count};
  if (tensors.bias) {
    all.gateBias = concatenated(g, tensors.gate, "bias", {inner});
    all.upBias = concatenated(g, tensors.up, "bias", {inner});
    all.downBias = concatenated(g, tensors.down, "bias", {width});
  }
  return all;
}

// The rows of each expert's gate stand before those of up.
Experts MoeLayer::expertsInOne(GraphBuilder &g, int64_t width) const {
  Weight both = g.stackedWeight(tensors.gateUp, {experts, 2 * inner, width});
  return {g.rows(both, 0, inner, 2 * inner), g.rows(both, inner, inner, 2 * inner),
          g.stackedWeight(tensors.downs, {experts, width, inner}), activation, routing.count};
}

// Matrices of all experts that are inputs by outputs in files.
static Weight transposeEach(GraphBuilder &g, const std::string &name, Weight all, int64_t experts) {
  std::vector<Weight> parts;
  int64_t inputs = g.rowCount(all) / experts;
  for (int64_t expert = 0; expert < experts; ++expert)
    parts.push_back(g.transpose(g.rows(all, expert * inputs, inputs, experts * inputs)));
  return g.concat(name + ".transposed", parts);
}

static Weight transposeEach(GraphBuilder &g, const std::string &name, const GraphBuilder::Shape &stored) {
  return transposeEach(g, name, g.stackedWeight(name, stored), stored[0]);
}

Experts MoeLayer::expertsInTurn(GraphBuilder &g, int64_t width) const {
  Weight both = transposeEach(g, tensors.gateUp, {experts, width, 2 * inner});
  Weight bias = tensors.bias ? g.flatWeight(tensors.gateUp + "_bias", {experts, 2 * inner}) : Weight();
  Experts all = {g.rows(both, 0, 1, 2), g.rows(both, 1, 1, 2), transposeEach(g, tensors.downs, {experts, inner, width}),
                 activation, routing.count};
  if (tensors.bias) {
    all.gateBias = g.rows(bias, 0, 1, 2);
    all.upBias = g.rows(bias, 1, 1, 2);
    all.downBias = g.flatWeight(tensors.downs + "_bias", {experts, width});
  }
  return all;
}

Experts MoeLayer::expertsInColumns(GraphBuilder &g, int64_t width) const {
  Weight both = transposeEach(g, tensors.gateUp, {experts, width, 2 * inner});
  return {g.rows(both, 0, inner, 2 * inner), g.rows(both, inner, inner, 2 * inner),
          transposeEach(g, tensors.downs, {experts, inner, width}), activation, routing.count};
}

Experts MoeLayer::expertsStacked(GraphBuilder &g, int64_t width) const {
  auto matrix = [&](const std::string &name) {
    return g.weight(name, {experts * inner, width}, "experts times their width by hidden_size");
  };
  return {matrix(tensors.gate), matrix(tensors.up), transposeEach(g, tensors.down, matrix(tensors.down), experts),
          activation, routing.count};
}

Experts MoeLayer::weights(GraphBuilder &g, int64_t width) const {
  using Reader = Experts (MoeLayer::*)(GraphBuilder &, int64_t) const;
  // In the order of ExpertTensors::Form.
  constexpr Reader readers[] = {&MoeLayer::expertsInOne, &MoeLayer::expertsInTurn, &MoeLayer::expertsInColumns,
                                &MoeLayer::expertsStacked};
  bool isOne = tensors.form == ExpertTensors::Form::Stacked || g.has(tensors.gateUp);
  Experts all = (this->*(isOne ? readers[static_cast<size_t>(tensors.form)] : &MoeLayer::expertsApart))(g, width);
  all.clamp = clamp;
  return all;
}

//===--- graph --------------------------------------------------------------------------------------------------===//

Tensor MoeLayer::routerScores(GraphBuilder &g, Tensor x) const {
  const std::string ending = ".weight";
  const std::string name = g.storedName({router.name + ending, otherRouter + ending});
  Linear stored = {name.substr(0, name.size() - ending.size()), router.bias};
  return stored.write(g, x, experts, "experts by hidden_size");
}

Tensor MoeLayer::routes(GraphBuilder &g, Tensor x) const {
  Tensor y = routerScores(g, x);
  if (otherRouting)
    return otherRouting(g, x, y);
  Routing chosen = routing;
  if (!selectionBias.empty())
    chosen.bias = isBiasRow ? g.flatWeight(selectionBias, {1, experts}) : g.weight(selectionBias, {experts}, "experts");
  y = scores == Scores::Softmax ? g.softmax(y) : g.activation(y, Activation::Sigmoid);
  y = g.route(y, chosen);
  return factor == 1 ? y : g.scale(y, factor);
}

// The matrix of ones repeats the only factor for all features.
Tensor MoeLayer::mixture(GraphBuilder &g, Tensor x) const {
  if (!scalesInput)
    return g.experts(x, routes(g, x), weights(g, x.width()));
  Tensor y = routerScores(g, x), best = g.route(g.softmax(y), 1, /*normalized=*/true);
  Tensor score = g.mul(g.activation(y, Activation::Sigmoid), best);
  Tensor factors = g.linear(score, g.filled({x.width(), experts}, 1));
  return g.experts(g.mul(x, factors), best, weights(g, x.width()));
}

// The shared layer is a single expert, whose route is its gate.
Tensor MoeLayer::addGated(GraphBuilder &g, Tensor x) const {
  Tensor route = g.activation(Linear{sharedGate}.write(g, x, 1, "1 by hidden_size"), Activation::Sigmoid);
  auto matrix = [&](const Linear &linear, int64_t rows, int64_t columns) {
    return g.weight(linear.name + ".weight", {rows, columns}, shared->why);
  };
  Weight gate = matrix(shared->gate, shared->inner, x.width()), up = matrix(shared->up, shared->inner, x.width());
  Tensor mixed = mixture(g, x);
  Weight down = matrix(shared->down, x.width(), shared->inner);
  return g.add(mixed, g.experts(x, route, gate, up, down, shared->activation, 1));
}

Tensor MoeLayer::operator()(GraphBuilder &g, Tensor x, int64_t layer) const {
  if (!sharedGate.empty())
    return addGated(g, x);
  Tensor mixed = mixture(g, x);
  if (!shared)
    return mixed;
  Tensor sum = g.add(mixed, (*shared)(g, x, layer));
  return sumFactor == 1 ? sum : g.scale(sum, sumFactor);
}

}  // namespace talc
