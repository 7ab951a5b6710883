// SPDX-License-Identifier: Apache-2.0
// StarCoder 2 (arXiv 2402.19173): Mistral with layer norms, biases and a plain feed-forward.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

void defineStarcoder2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 49152,
                     .width = 3072,
                     .inner = 12288,
                     .layers = 30,
                     .heads = 24,
                     .positions = 4096,
                     .keyValueHeads = 2,
                     .epsilon = 1e-5,
                     .activation = "gelu_pytorch_tanh",
                     .tied = true,
                     .keys = {.epsilon = "norm_epsilon"}});
  // These keys are of the code that trained the first models.
  config.passOver({"activation_function", "layer_norm_epsilon", "mlp_type", "norm_type",
                   "scale_attention_softmax_in_fp32", "scale_attn_weights"});
  bool hasBias = config.flag("use_bias", true);
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.attention.projections.setBias(hasBias);
  d.feedForward.makePlain("mlp.c_fc", "mlp.c_proj", hasBias);
  d.readWindows(d.windowOr({}), inEveryLayer());
  d.readRopes();
  d.define(g);
}

}  // namespace talc
