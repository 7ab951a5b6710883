// SPDX-License-Identifier: Apache-2.0
// Granite (arXiv 2405.04324): Llama with factors at the embedding, the scores, the parts and the logits;
// and the same with experts.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

static void readGranite(Decoder &d) {
  d.readRopes();
  d.embedding.factor = d.config.positive("embedding_multiplier", 1);
  d.residualFactor = d.config.positive("residual_multiplier", 1);
  d.attention.scale = d.config.positive("attention_multiplier", 1);
  d.head.factor = 1 / d.config.positive("logits_scaling", 1);
}

void defineGranite(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {});
  if (!config.has("hidden_size"))
    config.invalid("hidden_size", "is missing; models of IBM's that are GPT-2 inside have the same model_type");
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  readGranite(d);
  d.define(g);
}

}  // namespace talc
