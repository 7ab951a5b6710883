// SPDX-License-Identifier: Apache-2.0
// Llama with MoE layers: many feed-forward layers, a few of which process each token. For families that vary it.
//
//   x += attention(norm(x));  y = norm(x);  x += sum over the chosen experts e of route_e(y) * down_e(act(gate_e(y)) *
//   up_e(y))
#pragma once

#include "frontends/families/LlamaModel.h"

namespace talc {

// Names of the experts' tensors.
struct ExpertNames {
  std::string place, router, gate, up, down;
};

struct MoeModel : LlamaModel {
  MoeModel(const ModelConfig &config, const LlamaDefaults &defaults, const ExpertNames &names)
      : LlamaModel(config, defaults), names(names) {}

  void readExperts(const ModelConfig &config, const char *countKey, int64_t count, std::optional<int64_t> perToken);

  // The routing weights of each token.
  virtual Tensor routes(GraphBuilder &g, Tensor x) const;
  // The weights of all experts: files have a tensor for each expert, or one for all.
  virtual Experts weights(GraphBuilder &g) const;
  Tensor mixed(GraphBuilder &g, Tensor x) const { return g.experts(x, routes(g, x), weights(g)); }

  // The matrices of all experts, concatenated.
  Weight matrices(GraphBuilder &g, const std::string &name, int64_t rows, int64_t columns) const;
  // Scores of all experts.
  Tensor scores(GraphBuilder &g, Tensor x) const;

  ExpertNames names;
  int64_t experts, chosen, expertInner;
  bool normalized = true;
};

}  // namespace talc
