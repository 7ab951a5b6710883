// SPDX-License-Identifier: Apache-2.0
// OPT (arXiv 2205.01068): GPT-2 with an embedding that may be narrower than the layers, and layer norms that may come
// behind the parts.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

#include <cmath>

namespace talc {

void defineOpt(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 50272,
                     .width = 768,
                     .inner = 3072,
                     .layers = 12,
                     .heads = 12,
                     .epsilon = 1e-5,
                     .activation = "relu",
                     .tied = true,
                     .keys = {.inner = "ffn_dim",
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .epsilon = nullptr,
                              .activation = "activation_function",
                              .infini = nullptr},
                     .padding = 1});
  d.hasHardPositions = true;
  d.useLayerNorms(/*bias=*/true, "self_attn_layer_norm", "final_layer_norm");
  d.head.norm = "model.decoder.final_layer_norm";
  bool normsFirst = config.flag("do_layer_norm_before", true);
  if (!normsFirst) {
    d.attentionNorms = {{}, {}, d.attentionNorms.input};
    d.innerNorms = {{}, {}, d.innerNorms.input};
  }
  if (!normsFirst || config.flag("_remove_final_layer_norm", false))
    d.head.norm.clear();
  if (!config.flag("layer_norm_elementwise_affine", true))
    config.unsupported("layer_norm_elementwise_affine", "is false; talc knows the family with weights at norms");
  d.layersName = "model.decoder.layers";
  d.embedding.table = "model.decoder.embed_tokens";
  d.embedding.positions = "model.decoder.embed_positions";
  d.embedding.firstPosition = 2;  // the first two rows of the table are not positions
  d.tableWidth = config.integerOrNull("word_embed_proj_dim", {}, ModelConfig::size).value_or(d.width);
  if (d.tableWidth != d.width) {
    d.embedding.projection = "model.decoder.project_in";
    d.head.projection = "model.decoder.project_out";
  }
  bool hasBias = config.flag("enable_bias", true);
  d.attention.projections.nameApart("self_attn.", "_proj", "self_attn.out_proj");
  d.attention.projections.setBias(hasBias);
  d.feedForward.makePlain("fc1", "fc2", hasBias);
  d.define(g);
}

// BioGPT (arXiv 2210.10341): a scaled embedding, norms before the parts.
void defineBioGpt(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 42384,
                     .width = 1024,
                     .inner = 4096,
                     .layers = 24,
                     .heads = 16,
                     .positions = 1024,
                     .epsilon = 1e-5,
                     .activation = "gelu",
                     .tied = true,
                     .keys = {.keyValueHeads = nullptr, .headWidth = nullptr, .epsilon = nullptr, .infini = nullptr},
                     .padding = 1});
  d.hasHardPositions = true;
  d.useLayerNorms(/*bias=*/true, "self_attn_layer_norm", "final_layer_norm");
  config.passOver({"layer_norm_eps"});  // transformers does, too
  d.layersName = "biogpt.layers";
  d.embedding.table = "biogpt.embed_tokens";
  d.embedding.positions = "biogpt.embed_positions";
  d.embedding.firstPosition = 2;
  if (config.flag("scale_embedding", true))
    d.embedding.factor = std::sqrt(static_cast<double>(d.width));
  d.head.norm = "biogpt.layer_norm";
  d.head.name = "output_projection";
  d.attention.projections.nameApart("self_attn.", "_proj", "self_attn.out_proj");
  d.attention.projections.setBias(true);
  d.feedForward.makePlain("fc1", "fc2", /*bias=*/true);
  d.define(g);
}

// XGLM (arXiv 2112.10668): a scaled embedding, sinusoidal positions, norms before the parts.
void defineXglm(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 256008,
                     .width = 1024,
                     .inner = 4096,
                     .layers = 24,
                     .heads = 16,
                     .epsilon = 1e-5,
                     .activation = "gelu",
                     .tied = true,
                     .keys = {.width = "d_model",
                              .inner = "ffn_dim",
                              .layers = "num_layers",
                              .heads = "attention_heads",
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .epsilon = nullptr,
                              .activation = "activation_function",
                              .infini = nullptr}});
  config.refuseFlag("add_cross_attention", "talc knows the family as a decoder without an encoder");
  d.useLayerNorms(/*bias=*/true, "self_attn_layer_norm", "final_layer_norm");
  d.embedding.sinusoids = Sinusoids::Spread;
  d.embedding.firstPosition = 2;
  if (config.flag("scale_embedding", true))
    d.embedding.factor = std::sqrt(static_cast<double>(d.width));
  d.head.norm = "model.layer_norm";
  d.attention.projections.nameApart("self_attn.", "_proj", "self_attn.out_proj");
  d.attention.projections.setBias(true);
  d.feedForward.makePlain("fc1", "fc2", /*bias=*/true);
  d.define(g);
}

}  // namespace talc
