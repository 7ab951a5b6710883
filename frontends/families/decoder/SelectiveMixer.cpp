// SPDX-License-Identifier: Apache-2.0
// Reads and writes Mamba's mixer.
#include "frontends/families/decoder/SelectiveMixer.h"

#include "frontends/ModelConfig.h"
#include "frontends/families/decoder/Projections.h"

namespace talc {

void SelectiveMixer::read(const ModelConfig &config, int64_t width, const SelectiveMixerKeys &keys) {
  constexpr int64_t featuresOfRank = 16;
  state = config.integer(keys.state, 16, {1, 1024});
  taps = config.integer(keys.taps, 4, {2, 16});
  inner = config.integer(keys.expand, 2, {1, 64}) * width;
  hasConvBias = config.flag(keys.convBias, true);
  bias = config.flag(keys.bias, false);
  if (config.isText(keys.rank) && config.text(keys.rank, "auto") != "auto")
    config.unsupported(keys.rank, "talc knows numbers and auto");
  bool isAuto = !config.has(keys.rank) || config.isText(keys.rank);
  rank = isAuto ? (width + featuresOfRank - 1) / featuresOfRank : config.integer(keys.rank, 1, ModelConfig::size);
}

Tensor SelectiveMixer::normed(GraphBuilder &g, Tensor x, const char *kind) const {
  if (norms == Norms::None)
    return x;
  Weight scale =
      norms == Norms::Weightless ? g.ones(x.width()) : g.weight(name + "." + kind + "_layernorm.weight", {x.width()});
  return g.rmsNorm(x, scale, epsilon);
}

Tensor SelectiveMixer::operator()(GraphBuilder &g, Tensor x, int64_t) const {
  Tensor both = Linear{name + ".in_proj", bias}.write(g, x, 2 * inner, "2 * expand * hidden_size by hidden_size");
  CausalConv conv = {g.transpose(g.stackedWeight(name + ".conv1d.weight", {inner, 1, taps})),
                     hasConvBias ? g.weight(name + ".conv1d.bias", {inner}) : Weight(), /*hasSilu=*/true};
  Tensor y = g.causalConv(g.slice(both, 0, inner), conv);
  Tensor parts = Linear{name + ".x_proj"}.write(g, y, rank + 2 * state, "dt, B and C by features");
  Tensor steps = Linear{name + ".dt_proj", /*bias=*/true}.write(g, normed(g, g.slice(parts, 0, rank), "dt"), inner,
                                                                "features by time_step_rank");
  SelectiveScan scan = {g.activation(steps, Activation::Softplus), normed(g, g.slice(parts, rank, state), "b"),
                        normed(g, g.slice(parts, rank + state, state), "c"),
                        g.transpose(g.weight(name + ".A_log", {inner, state}, "features by state_size")),
                        g.weight(name + ".D", {inner}, "features")};
  y = g.mul(g.selectiveScan(y, scan), g.activation(g.slice(both, inner, inner), Activation::Silu));
  return Linear{name + ".out_proj", bias}.write(g, y, x.width(), "hidden_size by features");
}

}  // namespace talc
