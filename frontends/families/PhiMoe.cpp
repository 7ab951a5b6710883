// SPDX-License-Identifier: Apache-2.0
// Phi-3.5-MoE (arXiv 2404.14219): Mixtral with layer norms, biases, and the router of SparseMixer (arXiv 2409.12136).
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

namespace {

// Each of two experts is the best one that is left, and its weight is its softmax among the scores near the best:
//   (best - score) / max(|score|, best) <= 2 * jitter
struct SparseMixer {
  double jitter;

  // 1 where a score is not near the best one, which stands in all features of `best`; else 0.
  Tensor farScores(GraphBuilder &g, Tensor scores, Tensor best) const {
    constexpr double huge = 1e30;
    Tensor below = g.scale(best, -1);
    Tensor magnitude =
        g.add(g.activation(scores, Activation::Relu), g.activation(g.scale(scores, -1), Activation::Relu));
    Tensor unit = g.add(best, g.activation(g.add(magnitude, below), Activation::Relu));
    Tensor distance = g.add(best, g.scale(g.add(scores, g.scale(unit, 2 * jitter)), -1));
    return g.activation(g.clamp(g.scale(distance, huge), 1), Activation::Relu);
  }

  // The weight of the best of some experts; others have the probability 0.
  Tensor bestExpert(GraphBuilder &g, Tensor scores, Tensor probabilities) const {
    int64_t experts = scores.width();
    Tensor chosen = g.route(probabilities, 1, /*normalized=*/true);
    Tensor best = g.linear(g.mul(chosen, scores), g.filled({experts, experts}, 1));
    Tensor far = g.mul(probabilities, farScores(g, scores, best));
    Tensor near = g.add(probabilities, g.scale(far, -1));
    return g.mul(g.route(near, experts, /*normalized=*/true), chosen);
  }

  Tensor operator()(GraphBuilder &g, Tensor, Tensor scores) const {
    Tensor probabilities = g.softmax(scores);
    Tensor first = bestExpert(g, scores, probabilities);
    Tensor taken = g.mul(probabilities, g.route(probabilities, 1, /*normalized=*/true));
    return g.add(first, bestExpert(g, scores, g.add(probabilities, g.scale(taken, -1))));
  }
};

MoeLayer readExperts(const Decoder &d) {
  MoeLayer moe;
  moe.readCounts(d.config, "num_local_experts", 16, 2);
  if (moe.routing.count != 2 || moe.experts < 2)
    d.config.unsupported("num_experts_per_tok", "the family routes every token to two experts");
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.useMixtralNames();
  moe.otherRouting = SparseMixer{d.config.number("router_jitter_noise", 0.01, 0, 1)};
  return moe;
}

// Files say what sines and cosines are multiplied by twice: for short and for long texts.
void readAmplitude(Decoder &d) {
  auto parameters = d.config.inner(d.config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  if (!parameters || !parameters->has("short_mscale") || !parameters->has("long_mscale"))
    return;
  double amplitude = parameters->positive("short_mscale", 1);
  if (parameters->positive("long_mscale", 1) != amplitude)
    parameters->unsupported("long_mscale", "differs from short_mscale");
  for (std::optional<Rope> &rope : d.attention.ropes)
    if (auto *listed = rope ? std::get_if<LongScaling>(&rope->scaling) : nullptr)
      listed->amplitude = amplitude;
}

}  // namespace

void definePhiMoe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 32064,
                     .inner = 6400,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .epsilon = 1e-5,
                     .rope = {.theta = 1000000, .others = {"short_mscale", "long_mscale"}}});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.head.bias = config.flag("lm_head_bias", false);
  d.readWindows(d.windowOr({}), inEveryLayer());
  d.readRopes();
  readAmplitude(d);
  d.replaceFeedForward(inEveryLayer(), readExperts(d));
  d.define(g);
}

}  // namespace talc
