// SPDX-License-Identifier: Apache-2.0
// The mixer of Mamba-2 (arXiv 2405.21060): what a decoder's layer has for attention, or beside it.
//
//   z, x, B, C, dt = in_proj(u);  x, B, C = silu(conv(x, B, C));  dt = softplus(dt + dt_bias)
//   S = e^(-e^A_log * dt) S + B^T (dt x);  y = C S + D x       for each head; heads share B and C in groups
//   out_proj(norm(y * silu(z)))
#pragma once

#include "frontends/families/decoder/Norms.h"

#include <string>

namespace talc {

class ModelConfig;

// The keys of a configuration that set sizes of the mixer; null where a family has none.
struct StateSpaceKeys {
  const char *heads = "mamba_n_heads", *headWidth = "mamba_d_head", *groups = "mamba_n_groups",
             *state = "mamba_d_state", *taps = "mamba_d_conv", *expand = "mamba_expand", *convBias = "mamba_conv_bias",
             *bias = "mamba_proj_bias", *chunk = "mamba_chunk_size";
};

struct StateSpaceDefaults {
  int64_t heads = 128, groups = 1, state = 256;
  int64_t headWidth = 0;  // 0: "auto", the inner width divided by heads
  StateSpaceKeys keys = {};
};

struct StateSpace {
  // Where the norm of the result stands. Its groups are those of heads.
  enum class NormPlace { None, BehindGate, BeforeGate };

  // Reads sizes; `width`: hidden_size.
  void read(const ModelConfig &config, int64_t width, const StateSpaceDefaults &defaults);
  // `x` is normalized.
  Tensor operator()(GraphBuilder &g, Tensor x, int64_t layer) const;

  std::string name = "mamba";  // its tensors are `name`.in_proj.weight and so on
  int64_t heads = 0, headWidth = 0, groups = 0, state = 0, taps = 0;
  bool hasConvBias = true, hasOutputBias = false;
  NormPlace normPlace = NormPlace::BehindGate;
  double epsilon = 1e-5;
  double longestStep = 0;  // > 0: the largest dt
  struct {
    double input = 1, gate = 1, x = 1, b = 1, c = 1, step = 1, output = 1;
  } factors;  // of the input, the parts of in_proj's result, and the result

private:
  struct Rows {
    int64_t first, count;
  };
  struct Parts {
    Tensor x, b, c;
  };
  Tensor project(GraphBuilder &g, Tensor x, Weight matrix, Rows rows, double factor, Weight bias = {}) const;
  Tensor convolve(GraphBuilder &g, Tensor x, Weight matrix, Rows rows, double factor, const char *stateName) const;
  Parts parts(GraphBuilder &g, Tensor x, Weight matrix) const;
  Tensor gated(GraphBuilder &g, Tensor y, Tensor gate) const;
  int64_t inner() const { return heads * headWidth; }
  int64_t rowCount() const { return 2 * (inner() + groups * state) + heads; }
};

}  // namespace talc
