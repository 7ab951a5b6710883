// SPDX-License-Identifier: Apache-2.0
// StableLM (arXiv 2402.17834): Llama with layer norms, of which both parts may read one, and turns of a quarter of each
// head's features.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

void defineStableLm(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 50304,
                     .width = 2560,
                     .inner = 6912,
                     .positions = 4096,
                     .keyValueHeads = 32,
                     .epsilon = 1e-5,
                     .rope = {.share = 0.25, .hasShare = true},
                     .keys = {.headWidth = nullptr, .epsilon = "layer_norm_eps"}});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  bool isParallel = config.flag("use_parallel_residual", false);
  d.useLayerNorms(/*bias=*/true, "input_layernorm", isParallel ? "" : "post_attention_layernorm");
  d.attention.norms.query = "self_attn.q_layernorm.norms";
  d.attention.norms.key = "self_attn.k_layernorm.norms";
  if (config.flag("qk_layernorm", false))
    d.useHeadNorms(HeadNorms::Scale::Apart);
  d.attention.projections.setInputBias(config.flag("use_qkv_bias", false));
  d.readRopes();
  d.define(g);
}

}  // namespace talc
