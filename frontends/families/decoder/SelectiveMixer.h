// SPDX-License-Identifier: Apache-2.0
// The mixer of Mamba (arXiv 2312.00752): what a decoder's layer has for attention.
//
//   x, z = in_proj(u);  x = silu(conv(x));  dt, B, C = x_proj(x), perhaps normalized
//   y = the selective scan of x with the steps softplus(dt_proj(dt));  out_proj(y * silu(z))
#pragma once

#include "frontends/GraphBuilder.h"

#include <string>

namespace talc {

class ModelConfig;

// The keys of a configuration that set sizes of the mixer.
struct SelectiveMixerKeys {
  const char *state = "state_size", *taps = "conv_kernel", *expand = "expand", *rank = "time_step_rank",
             *convBias = "use_conv_bias", *bias = "use_bias";
};

struct SelectiveMixer {
  // Norms of dt, B and C.
  enum class Norms { None, Weightless, Weighted };

  // Reads sizes; `width`: hidden_size.
  void read(const ModelConfig &config, int64_t width, const SelectiveMixerKeys &keys);
  // `x` is normalized.
  Tensor operator()(GraphBuilder &g, Tensor x, int64_t layer) const;

  std::string name = "mixer";  // its tensors are `name`.in_proj.weight and so on
  int64_t inner = 0, state = 0, taps = 0, rank = 0;
  bool hasConvBias = true, bias = false;
  Norms norms = Norms::None;
  double epsilon = 1e-6;  // of these norms

private:
  Tensor normed(GraphBuilder &g, Tensor x, const char *kind) const;
};

}  // namespace talc
