// SPDX-License-Identifier: Apache-2.0
// Feed-forward layers of a decoder.
#pragma once

#include "frontends/families/decoder/Norms.h"
#include "frontends/families/decoder/Projections.h"

namespace talc {

//   gated:  down(activation(gate(x)) * up(x))
//   plain:  down(activation(up(x)))
struct FeedForward {
  enum class Kind { Gated, Fused, Plain };  // fused: the rows of gate stand before those of up in one matrix
  Kind kind = Kind::Gated;
  int64_t inner = 0;
  Activation activation = Activation::Silu;
  Linear gate = {"mlp.gate_proj"}, up = {"mlp.up_proj"}, down = {"mlp.down_proj"};
  NamedNorm innerNorm;                                 // of what `down` multiplies
  const char *why = "hidden_size, intermediate_size";  // of shapes, in error messages

  void setBias(bool bias) { gate.bias = up.bias = down.bias = bias; }
  void makePlain(const std::string &upName, const std::string &downName, bool bias);
  // Gate and up in one tensor.
  void fuse(const std::string &name);
  // One with other names of tensors: `place`.gate_proj and so on.
  FeedForward at(const std::string &place, int64_t inner) const;

  // `x` is normalized; all layers do the same.
  Tensor operator()(GraphBuilder &g, Tensor x, int64_t layer) const;
};

}  // namespace talc
