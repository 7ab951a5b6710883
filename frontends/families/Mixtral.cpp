// SPDX-License-Identifier: Apache-2.0
// Mixtral (arXiv 2401.04088): Mistral with many feed-forward layers, of which every token passes a few.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

void defineMixtral(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config,
            {.inner = 14336, .positions = 131072, .keyValueHeads = 8, .epsilon = 1e-5, .rope = {.theta = 1000000}});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  MoeLayer moe;
  moe.readCounts(config, "num_local_experts", 8, 2);
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.useMixtralNames();
  d.replaceFeedForward(inEveryLayer(), moe);
  d.readWindows(d.windowOr({}), inEveryLayer());
  d.readRopes();
  d.define(g);
}

}  // namespace talc
