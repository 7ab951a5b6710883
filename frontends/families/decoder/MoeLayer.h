// SPDX-License-Identifier: Apache-2.0
// MoE layers of a decoder: many feed-forward layers, a few of which process each token.
//
//   sum over the chosen experts e of route_e(x) * down_e(activation(gate_e(x)) * up_e(x))
//
// and perhaps a shared feed-forward layer that every token passes, as it is or times a gate.
#pragma once

#include "frontends/families/decoder/FeedForward.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace talc {

class ModelConfig;

// A part of a decoder's layer, such as attention: what it adds for normalized features in the layer of this number.
using LayerPart = std::function<Tensor(GraphBuilder &g, Tensor x, int64_t layer)>;

// Tensors of experts: one for each expert and matrix ("<each>.0.<gate>"), or all experts in one ("<gateUp>",
// "<downs>"): outputs by inputs, the rows of gate before those of up; inputs by outputs with columns of gate and up in
// turn, or with those of gate before those of up; or three matrices ("<gate>" and so on) with F rows for each expert.
struct ExpertTensors {
  enum class Form { Halves, InTurn, Columns, Stacked };
  std::string each = "mlp.experts", gate = "gate_proj", up = "up_proj", down = "down_proj";
  std::string gateUp = "mlp.experts.gate_up_proj", downs = "mlp.experts.down_proj";
  bool bias = false;
  Form form = Form::Halves;
};

struct MoeLayer {
  enum class Scores { Softmax, Sigmoid };
  Scores scores = Scores::Softmax;
  Linear router = {"mlp.gate"};
  std::string otherRouter = "mlp.gate";  // its name in files of other releases
  std::string selectionBias;             // the tensor that is added to scores for the selection; empty: none
  bool isBiasRow = false;                // it is stored as a matrix of one row
  Routing routing = {0, true};
  double factor = 1;         // of routes
  bool scalesInput = false;  // the sigmoid of the best expert's score multiplies its input instead of its result
  // Makes routes in another way from the input and the router's results.
  std::function<Tensor(GraphBuilder &g, Tensor x, Tensor scores)> otherRouting = {};

  int64_t experts = 0, inner = 0;
  Activation activation = Activation::Silu;
  double clamp = 0;  // of gates and inputs: see talc.experts
  ExpertTensors tensors = {};

  std::optional<FeedForward> shared = {};
  double sumFactor = 1;         // of the sum of both
  std::string sharedGate = {};  // the projection to its gate, a sigmoid; empty: none

  // Names of tensors as in Mixtral.
  void useMixtralNames();
  // Reads how many experts there are and how many of them process a token; without `perToken` that key is required.
  void readCounts(const ModelConfig &config, const char *countKey, int64_t count, std::optional<int64_t> perToken,
                  const char *perTokenKey = "num_experts_per_tok");
  // Reads groups of experts of which the best are taken (n_group, topk_group).
  void readGroups(const ModelConfig &config, std::optional<int64_t> groups, std::optional<int64_t> topGroups);

  Tensor operator()(GraphBuilder &g, Tensor x, int64_t layer) const;

private:
  Tensor routerScores(GraphBuilder &g, Tensor x) const;
  Tensor routes(GraphBuilder &g, Tensor x) const;
  Tensor mixture(GraphBuilder &g, Tensor x) const;
  Tensor addGated(GraphBuilder &g, Tensor x) const;
  Experts weights(GraphBuilder &g, int64_t width) const;
  Experts expertsApart(GraphBuilder &g, int64_t width) const;
  Experts expertsInOne(GraphBuilder &g, int64_t width) const;
  Experts expertsInTurn(GraphBuilder &g, int64_t width) const;
  Experts expertsInColumns(GraphBuilder &g, int64_t width) const;
  Experts expertsStacked(GraphBuilder &g, int64_t width) const;
  Weight concatenated(GraphBuilder &g, const std::string &name, const std::string &kind,
                      const GraphBuilder::Shape &shape) const;
};

}  // namespace talc
