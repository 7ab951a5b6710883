// SPDX-License-Identifier: Apache-2.0
// Writes norms of features, and of queries and keys.
#include "frontends/families/decoder/Norms.h"

namespace talc {

Tensor Norm::apply(GraphBuilder &g, Tensor x, Weight scale, Weight bias, int64_t groups) const {
  Weight factors = isFromOne ? g.plus(scale, 1) : scale;
  if (form == Form::Rms)
    return g.rmsNorm(x, factors, epsilon, groups);
  return g.layerNorm(x, factors, bias, epsilon, groups);
}

Tensor Norm::write(GraphBuilder &g, Tensor x, const std::string &name) const {
  GraphBuilder::Shape shape = {x.width()};
  Weight scale = hasScale ? g.weight(name + ".weight", shape, "hidden_size") : g.ones(x.width());
  return apply(g, x, scale, bias ? g.weight(name + ".bias", shape, "hidden_size") : Weight(), 1);
}

namespace {

// Weights of norms, and how many groups of features they normalize.
struct HeadScales {
  Weight scale, bias = {};
  int64_t groups;
};

HeadScales sharedScale(GraphBuilder &g, const std::string &name, int64_t heads, int64_t width, bool bias) {
  GraphBuilder::Shape shape = {width / heads};
  Weight scale = g.weight(name + ".weight", shape);
  return {scale, bias ? g.weight(name + ".bias", shape) : Weight(), heads};
}

HeadScales rowsOfScales(GraphBuilder &g, const std::string &name, int64_t heads, int64_t width, bool) {
  return {g.flatWeight(name + ".weight", {heads, width / heads}), {}, heads};
}

HeadScales scalesApart(GraphBuilder &g, const std::string &name, int64_t heads, int64_t width, bool) {
  std::vector<Weight> scales;
  for (int64_t head = 0; head < heads; ++head)
    scales.push_back(g.weight(name + "." + std::to_string(head) + ".weight", {width / heads}));
  return {g.concat(name, scales), {}, heads};
}

HeadScales scaleForAll(GraphBuilder &g, const std::string &name, int64_t, int64_t width, bool) {
  return {g.weight(name + ".weight", {width}), {}, 1};
}

// In the order of HeadNorms::Scale.
using HeadScaleReader = HeadScales (*)(GraphBuilder &, const std::string &, int64_t heads, int64_t width, bool bias);
constexpr HeadScaleReader readers[] = {nullptr, sharedScale, rowsOfScales, scalesApart, scaleForAll};

}  // namespace

Tensor HeadNorms::write(GraphBuilder &g, Tensor x, const std::string &name, int64_t heads,
                        const std::function<Weight(Weight)> &ordered) const {
  HeadScaleReader read = readers[static_cast<size_t>(scale)];
  if (!read)
    return x;
  if (!norm.hasScale)
    return norm.apply(g, x, g.ones(x.width() / heads), {}, heads);
  HeadScales scales = read(g, name, heads, x.width(), norm.bias);
  Weight bias = scales.bias ? ordered(scales.bias) : Weight();
  return norm.apply(g, x, ordered(scales.scale), bias, scales.groups);
}

}  // namespace talc
