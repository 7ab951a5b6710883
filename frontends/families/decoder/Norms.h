// SPDX-License-Identifier: Apache-2.0
// Norms of a decoder: of the features between its parts, and of its queries and keys.
#pragma once

#include "frontends/GraphBuilder.h"

#include <functional>
#include <string>

namespace talc {

// The normalization of features.
struct Norm {
  enum class Form { Rms, Layer };
  Form form = Form::Rms;
  double epsilon = 1e-6;
  bool bias = false;       // of layer norms
  bool isFromOne = false;  // files have what weights are more than 1
  bool hasScale = true;    // has weights at all

  // With the weights `name`.weight and `name`.bias.
  Tensor write(GraphBuilder &g, Tensor x, const std::string &name) const;
  // With these weights; each of `groups` groups of features by itself.
  Tensor apply(GraphBuilder &g, Tensor x, Weight scale, Weight bias, int64_t groups) const;
};

// A norm by the name of its tensors; empty: there is none.
struct NamedNorm {
  std::string name;
  Norm norm = {};

  Tensor write(GraphBuilder &g, Tensor x) const { return name.empty() ? x : norm.write(g, x, name); }
};

// Norms of queries and keys.
struct HeadNorms {
  // The weights of heads: one vector for all of them, rows of one matrix, a tensor for each, or a norm of all features
  // of all heads at once.
  enum class Scale { None, Shared, Rows, Apart, AllHeads };
  Scale scale = Scale::None;
  Norm norm;
  std::string query = "self_attn.q_norm", key = "self_attn.k_norm";
  bool isBehindRope = false;
  bool needsRope = false;  // layers without positions have none

  // `ordered` maps weights of heads to the order in which rope takes their features.
  Tensor write(GraphBuilder &g, Tensor x, const std::string &name, int64_t heads,
               const std::function<Weight(Weight)> &ordered) const;
};

}  // namespace talc
