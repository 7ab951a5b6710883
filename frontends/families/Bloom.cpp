// SPDX-License-Identifier: Apache-2.0
// BLOOM (arXiv 2211.05100) and MPT: no positions but a bias of attention that falls with the distance.
#include "frontends/families/Families.h"
#include "frontends/families/PlainModel.h"

namespace talc {

namespace {

struct Bloom : PlainModel {
  explicit Bloom(const ModelConfig &config) {
    config.head({"ForCausalLM", "Model"});
    vocabulary = config.integer("vocab_size", 250880, ModelConfig::size);
    width = tableWidth = config.integer(config.has("n_embed") ? "n_embed" : "hidden_size", 64, ModelConfig::size);
    layers = config.integer("n_layer", 2, ModelConfig::layerCount);
    heads = keyValueHeads = config.integer("n_head", 8, ModelConfig::headCount);
    inner = 4 * width;
    positions = config.integer("seq_length", 2048, ModelConfig::positionCount);
    activation = Activation::GeluTanh;
    epsilon = config.positive("layer_norm_epsilon", 1e-5);
    tied = config.flag("tie_word_embeddings", true);
    normedResidual = config.flag("apply_residual_connection_post_layernorm", false);
    alibi = 1;
    checkHeads(config, "n_head", "hidden_size");
    names = {"transformer.h",    "transformer.word_embeddings", "transformer.ln_f",     "lm_head",
             "input_layernorm",  "post_attention_layernorm",    "self_attention.dense", "mlp.dense_h_to_4h",
             "mlp.dense_4h_to_h"};
  }

  Tensor embed(GraphBuilder &g, Weight table) const override {
    return norm(g, g.embedding(table), "transformer.word_embeddings_layernorm");
  }
  Tensor layer(GraphBuilder &g, Tensor x) const override {
    if (!normedResidual)
      return PlainModel::layer(g, x);
    Tensor y = norm(g, x, names.attentionNorm);
    Tensor z = norm(g, g.add(y, attention(g, y)), names.innerNorm);
    return g.add(z, feedForward(g, z));
  }
  Tensor project(GraphBuilder &g, Tensor x, char part) const override {
    return linearPart(g, x, "self_attention.query_key_value", partOfHeads(part));
  }

  bool normedResidual;
};

// Refuses what only llm-foundry computes.
struct Mpt : PlainModel {
  explicit Mpt(const ModelConfig &config) {
    config.head({"ForCausalLM", "Model"});
    vocabulary = config.integer("vocab_size", 50368, ModelConfig::size);
    width = tableWidth = config.integer("d_model", 2048, ModelConfig::size);
    layers = config.integer("n_layers", 24, ModelConfig::layerCount);
    heads = keyValueHeads = config.integer("n_heads", 16, ModelConfig::headCount);
    positions = config.integer("max_seq_len", 2048, ModelConfig::positionCount);
    inner = 4 * width;
    activation = Activation::Gelu;
    epsilon = config.positive("layer_norm_epsilon", 1e-5);
    tied = config.flag("tie_word_embeddings", true);
    inputBias = outputBias = innerBias = normBias = false;
    alibi = 1;
    checkHeads(config, "n_heads", "d_model");
    if (!config.flag("no_bias", true))
      config.unsupported("no_bias", "is false; talc knows the family without biases");
    if (config.has("logit_scale"))
      config.unsupported("logit_scale", "is given; talc knows the family without it");
    if (config.integer("expansion_ratio", 4, {1, 1024}) != 4)
      config.unsupported("expansion_ratio", "is not 4");
    if (std::string kind = config.text("norm_type", "layernorm");
        kind != "layernorm" && kind != "low_precision_layernorm")
      config.unsupported("norm_type", "is not layernorm");
    if (auto inside = config.inner("attn_config"))
      readAttention(*inside);
    names = {"transformer.blocks", "transformer.wte", "transformer.norm_f", "lm_head", "norm_1", "norm_2",
             "attn.out_proj",      "ffn.up_proj",     "ffn.down_proj"};
  }

  void readAttention(const ModelConfig &config) {
    if (!config.flag("alibi", true))
      config.unsupported("alibi", "is false; talc knows the family with it");
    for (const char *key : {"qk_ln", "prefix_lm", "attn_uses_sequence_id"})
      config.refuseFlag(key, "talc knows the family without it");
    if (config.positive("alibi_bias_max", 8) != 8)
      config.unsupported("alibi_bias_max", "is not 8");
    if (config.text("attn_type", "multihead_attention") != "multihead_attention")
      config.unsupported("attn_type", "is not multihead_attention");
    if (config.has("clip_qkv"))
      clip = config.number("clip_qkv", 0, 0, 1e30);
    if (config.has("softmax_scale"))
      scale = config.positive("softmax_scale", scale);
  }

  Tensor project(GraphBuilder &g, Tensor x, char part) const override {
    Tensor y = linearPart(g, x, "attn.Wqkv", partOfAll(part));
    return clip > 0 ? g.clamp(y, clip) : y;
  }

  double clip = 0;  // 0: none
};

}  // namespace

void defineBloom(GraphBuilder &g, const ModelConfig &config) {
  Bloom model(config);
  if (!config.failed())
    model.define(g);
}

void defineMpt(GraphBuilder &g, const ModelConfig &config) {
  Mpt model(config);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
