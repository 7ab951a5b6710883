// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019): learned positions, layer norm before each part, one matrix for queries, keys and values.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

constexpr DecoderDefaults gpt2Sizes = {.vocabulary = 50257,
                                       .width = 768,
                                       .inner = 0,
                                       .layers = 12,
                                       .heads = 12,
                                       .positions = 1024,
                                       .epsilon = 1e-5,
                                       .activation = "gelu_new",
                                       .tied = true,
                                       .keys = gpt2Keys};

static void readGpt2(Decoder &d) {
  d.config.refuseFlag("add_cross_attention", "talc knows GPT-2 as a decoder without an encoder");
  d.hasHardPositions = true;
  d.useLayerNorms(/*bias=*/true, "ln_1", "ln_2");
  d.layersName = "transformer.h";
  d.embedding.table = "transformer.wte";
  d.embedding.positions = "transformer.wpe";
  d.head.norm = "transformer.ln_f";
  d.attention.projections.pack("attn.c_attn", /*inOrder=*/true);
  d.attention.projections.output.name = "attn.c_proj";
  d.attention.projections.setBias(true);
  d.feedForward.makePlain("mlp.c_fc", "mlp.c_proj", /*bias=*/true);
}

// reorder_and_upcast_attn only asks for the f32 attention that talc computes anyway.
void defineGpt2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, gpt2Sizes);
  readGpt2(d);
  if (!config.flag("scale_attn_weights", true))
    d.attention.scale = 1;
  d.attention.isScaledByLayer = config.flag("scale_attn_by_inverse_layer_idx", false);
  for (Linear *linear :
       {&d.attention.projections.all, &d.attention.projections.output, &d.feedForward.up, &d.feedForward.down})
    linear->transposed = true;
  d.define(g);
}

}  // namespace talc
