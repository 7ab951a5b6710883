// SPDX-License-Identifier: Apache-2.0
// Writes feed-forward layers.
#include "frontends/families/decoder/FeedForward.h"

namespace talc {

namespace {

Tensor writeGated(GraphBuilder &g, Tensor x, const FeedForward &part) {
  Tensor gate = g.activation(part.gate.write(g, x, part.inner, part.why), part.activation);
  return g.mul(gate, part.up.write(g, x, part.inner, part.why));
}

// The matrix is called as that of up.
Tensor writeFused(GraphBuilder &g, Tensor x, const FeedForward &part) {
  int64_t inner = part.inner;
  Weight both = g.weight(part.up.name + ".weight", {2 * inner, x.width()}, "2 * intermediate_size by hidden_size");
  Weight bias = part.up.bias ? g.weight(part.up.name + ".bias", {2 * inner}) : Weight();
  auto half = [&](int64_t first) {
    return g.linear(x, g.rows(both, first, inner, 2 * inner), bias ? g.rows(bias, first, inner, 2 * inner) : Weight());
  };
  Tensor gate = g.activation(half(0), part.activation);
  return g.mul(gate, half(inner));
}

Tensor writePlain(GraphBuilder &g, Tensor x, const FeedForward &part) {
  return g.activation(part.up.write(g, x, part.inner, part.why), part.activation);
}

// In the order of FeedForward::Kind.
constexpr Tensor (*kinds[])(GraphBuilder &, Tensor, const FeedForward &) = {writeGated, writeFused, writePlain};

}  // namespace

void FeedForward::makePlain(const std::string &upName, const std::string &downName, bool bias) {
  kind = Kind::Plain;
  up.name = upName;
  down.name = downName;
  setBias(bias);
}

void FeedForward::fuse(const std::string &name) {
  kind = Kind::Fused;
  up.name = name;
}

FeedForward FeedForward::at(const std::string &place, int64_t size) const {
  FeedForward result = *this;
  result.inner = size;
  for (auto [linear, name] :
       {std::pair(&result.gate, ".gate_proj"), {&result.up, ".up_proj"}, {&result.down, ".down_proj"}})
    linear->name = place + name;
  return result;
}

Tensor FeedForward::operator()(GraphBuilder &g, Tensor x, int64_t) const {
  Tensor inside = innerNorm.write(g, kinds[static_cast<size_t>(kind)](g, x, *this));
  return down.write(g, inside, x.width(), why);
}

}  // namespace talc
