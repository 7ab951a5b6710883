// SPDX-License-Identifier: Apache-2.0
// Phi-1.5 and Phi-2 (arXiv 2309.05463): both parts read one layer norm, a part of each head is turned, everything has a
// bias. Phi-3 (arXiv 2404.14219): Llama with fused projections and positions for long texts.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

void definePhi(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 51200,
                     .width = 2048,
                     .inner = 8192,
                     .layers = 24,
                     .epsilon = 1e-5,
                     .activation = "gelu_new",
                     .rope = {.share = 0.5, .hasShare = true},
                     .keys = {.epsilon = "layer_norm_eps"}});
  d.useLayerNorms(/*bias=*/true, "input_layernorm");
  d.head.norm = "model.final_layernorm";
  d.head.bias = true;
  d.attention.projections.setInputBias(true);
  d.attention.projections.output = {"self_attn.dense", true};
  d.attention.norms.query = "self_attn.q_layernorm";
  d.attention.norms.key = "self_attn.k_layernorm";
  if (config.flag("qk_layernorm", false))
    d.useHeadNorms(HeadNorms::Scale::Shared);
  d.feedForward.makePlain("mlp.fc1", "mlp.fc2", /*bias=*/true);
  d.readRopes();
  d.define(g);
}

void definePhi3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 32064,
                     .width = 3072,
                     .inner = 8192,
                     .positions = 4096,
                     .epsilon = 1e-5,
                     .rope = {.hasShare = true, .original = 4096},
                     .padding = 32000});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  d.readWindows(d.windowOr({}), inEveryLayer());
  d.attention.projections.pack("self_attn.qkv_proj", /*inOrder=*/true);
  d.feedForward.fuse("mlp.gate_up_proj");
  d.readRopes();
  d.define(g);
}

}  // namespace talc
