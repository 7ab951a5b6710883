// SPDX-License-Identifier: Apache-2.0
// The gated delta net (arXiv 2412.06464): what a decoder's layer has for attention.
//
//   q, k, v = silu(conv(W_qkv x));  q, k = each head's l2 norm, q / sqrt(dk)
//   decay = softplus(W_a x + dt_bias);  beta = sigmoid(W_b x)
//   S = d S + k^T beta (v - (d k) S);  y = q S,  d = e^(-e^A_log * decay)     for each head
//   W_o(norm(y, each head) * silu(W_z x))
#pragma once

#include "frontends/families/decoder/Norms.h"

#include <string>

namespace talc {

class ModelConfig;

struct GatedDelta {
  // Files have one tensor for q, k, v and z and one for b and a, both by key head; one for q, k and v and three others;
  // or one for each.
  enum class Packing { ByKeyHead, InOrder, Apart };

  // Reads the keys linear_*; without a default of `keyWidth` the value heads are the key heads.
  void read(const ModelConfig &config, int64_t keyHeads, int64_t valueHeads, int64_t keyWidth, int64_t valueWidth);
  // `x` is normalized.
  Tensor operator()(GraphBuilder &g, Tensor x, int64_t layer) const;

  Packing packing = Packing::ByKeyHead;
  std::string name = "linear_attn", norm = "norm", output = "out_proj";  // `name`.in_proj_qkvz.weight and so on
  int64_t keyHeads = 0, valueHeads = 0, keyWidth = 0, valueWidth = 0, taps = 0;
  double epsilon = 1e-6;
  double betaFactor = 1;

private:
  // Weights that make queries, keys and values, the gate, beta and the decay.
  struct Inputs {
    Weight all, gate, beta, decay;
  };
  Inputs inputs(GraphBuilder &g, int64_t width) const;
  Inputs inputsByKeyHead(GraphBuilder &g, int64_t width) const;
  Inputs inputsInOrder(GraphBuilder &g, int64_t width) const;
  Inputs inputsApart(GraphBuilder &g, int64_t width) const;
  Weight convWeight(GraphBuilder &g) const;
  int64_t keys() const { return keyHeads * keyWidth; }
  int64_t values() const { return valueHeads * valueWidth; }
};

}  // namespace talc
