// SPDX-License-Identifier: Apache-2.0
// gpt-oss: a mixture whose experts have biases and a clamped gate, with windows in every other layer, and in every head
// a learned score that takes part in the softmax alone.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

#include <cmath>

namespace talc {

// The softmax of the chosen scores is that of all scores, divided by what the chosen ones have of it.
static MoeLayer readMoeLayer(const Decoder &d) {
  constexpr double clamp = 7, alpha = 1.702;
  MoeLayer moe;
  moe.readCounts(d.config, "num_local_experts", 128, 4);
  moe.inner = d.feedForward.inner;
  moe.router = {"mlp.router", /*bias=*/true};
  moe.activation = Activation::QuickGelu;
  moe.clamp = clamp;
  moe.tensors.bias = true;
  moe.tensors.form = ExpertTensors::Form::InTurn;
  if (d.config.number("swiglu_limit", clamp, 0, 1e30) != clamp)
    d.config.unsupported("swiglu_limit", "the family clamps its gates at 7");
  if (d.config.number("swiglu_alpha", alpha, 0, 1e30) != alpha)
    d.config.unsupported("swiglu_alpha", "the family has gates of 1.702");
  return moe;
}

void defineGptOss(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 201088,
                     .width = 2880,
                     .inner = 2880,
                     .layers = 36,
                     .heads = 64,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .headWidth = 64,
                     .epsilon = 1e-5,
                     .rope = {.theta = 150000}});
  d.attention.projections.output.bias = config.flag("attention_bias", true);
  d.attention.projections.setInputBias(d.attention.projections.output.bias);
  config.refuseFlag("mlp_bias", "the biases of experts are always there");
  d.attention.sinks = "self_attn.sinks";
  d.replaceFeedForward(inEveryLayer(), readMoeLayer(d));
  d.readWindows(d.windowOr(128), exceptEvery(2));
  d.readRopes();
  if (!config.has("rope_scaling") && !config.has("rope_parameters"))
    for (std::optional<Rope> &rope : d.attention.ropes)
      rope->scaling = YarnScaling{32, 32, 1, 4096, false, 0.1 * std::log(32.0) + 1};
  d.define(g);
}

}  // namespace talc
