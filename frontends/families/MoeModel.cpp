// SPDX-License-Identifier: Apache-2.0
// Reads the experts of a configuration and writes their layer.
#include "frontends/families/MoeModel.h"

namespace talc {

void MoeModel::readExperts(const ModelConfig &config, const char *countKey, int64_t count,
                           std::optional<int64_t> perToken) {
  experts = config.integer(countKey, count, {1, 4096});
  if (!perToken && !config.has("num_experts_per_tok"))
    config.invalid("num_experts_per_tok", "is missing");
  chosen = config.integer("num_experts_per_tok", perToken.value_or(1), {1, experts});
}

Weight MoeModel::matrices(GraphBuilder &g, const std::string &name, int64_t rows, int64_t columns) const {
  std::vector<Weight> parts;
  for (int64_t expert = 0; expert < experts; ++expert)
    parts.push_back(g.weight(names.place + "." + std::to_string(expert) + "." + name + ".weight", {rows, columns}));
  return g.concat(names.place + "." + name, parts);
}

Tensor MoeModel::scores(GraphBuilder &g, Tensor x) const {
  const std::string name = g.storedName({names.router + ".weight", "mlp.gate.weight"});
  return g.linear(x, g.weight(name, {experts, width}, "experts by hidden_size"));
}

Tensor MoeModel::routes(GraphBuilder &g, Tensor x) const {
  return g.route(g.softmax(scores(g, x)), chosen, normalized);
}

Experts MoeModel::weights(GraphBuilder &g) const {
  const std::string stacked = "mlp.experts";
  if (!g.has(stacked + ".gate_up_proj"))
    return {matrices(g, names.gate, expertInner, width), matrices(g, names.up, expertInner, width),
            matrices(g, names.down, width, expertInner), activation, chosen};
  Weight both = g.stackedWeight(stacked + ".gate_up_proj", {experts, 2 * expertInner, width});
  return {g.rows(both, 0, expertInner, 2 * expertInner), g.rows(both, expertInner, expertInner, 2 * expertInner),
          g.stackedWeight(stacked + ".down_proj", {experts, width, expertInner}), activation, chosen};
}

}  // namespace talc
