// SPDX-License-Identifier: Apache-2.0
// BLOOM (arXiv 2211.05100) and MPT: no positions but a bias of attention that falls with the distance.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

void defineBloom(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 250880,
                     .width = 64,
                     .inner = 0,
                     .layers = 2,
                     .heads = 8,
                     .epsilon = 1e-5,
                     .activation = "gelu_new",
                     .tied = true,
                     .keys = {.width = config.has("n_embed") ? "n_embed" : "hidden_size",
                              .inner = nullptr,
                              .layers = "n_layer",
                              .heads = "n_head",
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .positions = "seq_length",
                              .epsilon = "layer_norm_epsilon",
                              .activation = nullptr,
                              .infini = nullptr}});
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.hasNormedResidual = config.flag("apply_residual_connection_post_layernorm", false);
  config.passOver({"offset_alibi", "skip_bias_add"});  // of the code that trained it
  d.layersName = "transformer.h";
  d.embedding.table = "transformer.word_embeddings";
  d.embedding.norm = "transformer.word_embeddings_layernorm";
  d.head.norm = "transformer.ln_f";
  d.attention.alibi = Alibi();
  d.attention.projections.pack("self_attention.query_key_value", config.flag("qkv_in_order", false));
  d.attention.projections.output.name = "self_attention.dense";
  d.attention.projections.setBias(true);
  d.feedForward.makePlain("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", /*bias=*/true);
  d.define(g);
}

static void readMptAttention(HeadAttention &attention, const ModelConfig &config) {
  if (!config.flag("alibi", true))
    config.unsupported("alibi", "is false; talc knows the family with it");
  for (const char *key : {"qk_ln", "prefix_lm", "attn_uses_sequence_id"})
    config.refuseFlag(key, "talc knows the family without it");
  if (config.positive("alibi_bias_max", 8) != 8)
    config.unsupported("alibi_bias_max", "is not 8");
  if (config.text("attn_type", "multihead_attention") != "multihead_attention")
    config.unsupported("attn_type", "is not multihead_attention");
  if (config.has("clip_qkv"))
    attention.clip = config.number("clip_qkv", 0, 0, 1e30);
  if (config.has("softmax_scale"))
    attention.scale = config.positive("softmax_scale", attention.scale);
}

// Refuses what only llm-foundry computes.
void defineMpt(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 50368,
                     .width = 2048,
                     .inner = 0,
                     .layers = 24,
                     .heads = 16,
                     .epsilon = 1e-5,
                     .activation = "gelu",
                     .tied = true,
                     .keys = {.width = "d_model",
                              .inner = nullptr,
                              .layers = "n_layers",
                              .heads = "n_heads",
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .positions = "max_seq_len",
                              .epsilon = "layer_norm_epsilon",
                              .activation = nullptr,
                              .infini = nullptr}});
  if (!config.flag("no_bias", true))
    config.unsupported("no_bias", "is false; talc knows the family without biases");
  if (config.has("logit_scale"))
    config.unsupported("logit_scale", "is given; talc knows the family without it");
  if (config.integer("expansion_ratio", 4, {1, 1024}) != 4)
    config.unsupported("expansion_ratio", "is not 4");
  std::string norms = config.text("norm_type", "layernorm");
  if (norms != "layernorm" && norms != "low_precision_layernorm")
    config.unsupported("norm_type", "is not layernorm");
  if (auto inside = config.inner("attn_config"))
    readMptAttention(d.attention, *inside);
  d.useLayerNorms(/*bias=*/false, "norm_1", "norm_2");
  d.layersName = "transformer.blocks";
  d.embedding.table = "transformer.wte";
  d.head.norm = "transformer.norm_f";
  d.attention.alibi = Alibi();
  d.attention.projections.pack("attn.Wqkv", /*inOrder=*/true);
  d.attention.projections.output.name = "attn.out_proj";
  d.feedForward.makePlain("ffn.up_proj", "ffn.down_proj", /*bias=*/false);
  d.define(g);
}

}  // namespace talc
