// SPDX-License-Identifier: Apache-2.0
// GPT-NeoX (arXiv 2204.06745; Pythia, RedPajama, Dolly) and GPT-J: GPT-2 with rotary positions and parts side by side.
// CodeGen (arXiv 2203.13474) and Persimmon, which vary them.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

// Files have the names of other families beside their own, of which the model is made.
static void refuseOther(const ModelConfig &config, const char *key, const char *ownKey, double fallback) {
  double value = config.positive(ownKey, fallback);
  if (config.has(key) && config.positive(key, value) != value)
    config.invalid(key, std::string("differs from ") + ownKey + ", which this model_type reads");
}

void defineGptNeoX(GraphBuilder &g, const ModelConfig &config) {
  const RopeKeys rope = {.share = 0.25, .hasShare = true, .thetaKey = "rotary_emb_base", .shareKey = "rotary_pct"};
  refuseOther(config, "rope_theta", rope.thetaKey, rope.theta);
  refuseOther(config, "partial_rotary_factor", rope.shareKey, rope.share);
  Decoder d(config,
            {.vocabulary = 50432,
             .width = 6144,
             .inner = 24576,
             .layers = 44,
             .heads = 64,
             .epsilon = 1e-5,
             .activation = "gelu",
             .rope = rope,
             .keys = {.keyValueHeads = nullptr, .headWidth = nullptr, .epsilon = "layer_norm_eps", .infini = nullptr}});
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.isParallel = config.flag("use_parallel_residual", true);
  d.layersName = "gpt_neox.layers";
  d.embedding.table = "gpt_neox.embed_in";
  d.head.norm = "gpt_neox.final_layer_norm";
  d.head.name = "embed_out";
  d.attention.projections.pack("attention.query_key_value", config.flag("qkv_in_order", false));
  d.attention.projections.output.name = "attention.dense";
  d.attention.projections.setBias(config.flag("attention_bias", true));
  d.feedForward.makePlain("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", /*bias=*/true);
  d.readRopes();
  d.define(g);
}

// Parts in turn, and one bias: that of the last layer's attention.
void defineGptNeoXJapanese(GraphBuilder &g, const ModelConfig &config) {
  const RopeKeys rope = {.hasShare = true, .thetaKey = "rotary_emb_base", .shareKey = "rotary_pct"};
  refuseOther(config, "rope_theta", rope.thetaKey, rope.theta);
  refuseOther(config, "partial_rotary_factor", rope.shareKey, rope.share);
  Decoder d(config,
            {.width = 2560,
             .inner = 0,
             .epsilon = 1e-5,
             .activation = "gelu",
             .tied = true,
             .rope = rope,
             .keys = {.inner = nullptr, .keyValueHeads = nullptr, .headWidth = nullptr, .epsilon = "layer_norm_eps"}});
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.layersName = "gpt_neox_japanese.layers";
  d.embedding.table = "gpt_neox_japanese.embed_in";
  d.head.norm = "gpt_neox_japanese.final_layer_norm";
  d.head.name = "embed_out";
  d.attention.projections.pack("attention.query_key_value", /*inOrder=*/false);
  d.attention.projections.output.name = "attention.dense";
  d.feedForward.makePlain("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", /*bias=*/false);
  d.feedForward.inner = config.integer("intermediate_multiple_size", 4, {1, 1024}) * d.width;
  d.readRopes();
  d.otherAttention = [usual = d.attention, last = d.layers - 1](GraphBuilder &g, Tensor x, int64_t layer) {
    HeadAttention attention = usual;
    attention.projections.output.bias = layer == last;
    attention.projections.output.biasName = "attention.dense_bias";
    return attention(g, x, layer);
  };
  d.define(g);
}

constexpr DecoderDefaults gptJSizes = {.vocabulary = 50400,
                                       .inner = 0,
                                       .layers = 28,
                                       .heads = 16,
                                       .epsilon = 1e-5,
                                       .activation = "gelu_new",
                                       .keys = gpt2Keys};

// Neighbouring features are turned together.
static void readGptJ(Decoder &d) {
  d.hasHardPositions = true;  // the family tabulates its turns
  d.useLayerNorms(/*bias=*/true, "ln_1");
  d.layersName = "transformer.h";
  d.embedding.table = "transformer.wte";
  d.head.norm = "transformer.ln_f";
  d.head.bias = true;
  d.attention.projections.nameApart("attn.", "_proj", "attn.out_proj");
  d.feedForward.makePlain("mlp.fc_in", "mlp.fc_out", /*bias=*/true);
  int64_t width = d.attention.sizes.width;
  int64_t rotary = d.config.integerOrNull("rotary_dim", 64, {2, width}).value_or(width);
  if (rotary % 2 != 0)
    d.config.invalid("rotary_dim", "is " + std::to_string(rotary) + ", expected an even number");
  d.attention.ropes.assign(d.layers, Rope{rotary, 10000, {}});
  d.pairNeighbors();
}

void defineGptJ(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, gptJSizes);
  readGptJ(d);
  d.define(g);
}

// CodeGen: GPT-J with one matrix for queries, keys and values.
void defineCodeGen(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, gptJSizes);
  readGptJ(d);
  d.attention.projections.packing = Projections::Packing::InQuarters;
  d.attention.projections.all.name = "attn.qkv_proj";
  if (d.attention.sizes.heads % 4 != 0)
    config.invalid("n_head", std::to_string(d.attention.sizes.heads) + " heads, expected a multiple of 4");
  d.define(g);
}

// Persimmon: parts in turn, norms of queries and keys.
void definePersimmon(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 262144,
                     .inner = 16384,
                     .layers = 36,
                     .heads = 64,
                     .positions = 16384,
                     .epsilon = 1e-5,
                     .activation = "relu2",
                     .rope = {.share = 0.5, .hasShare = true},
                     .keys = {.keyValueHeads = nullptr, .headWidth = nullptr, .epsilon = "layer_norm_eps"}});
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.head.norm = "model.final_layernorm";
  d.attention.projections.pack("self_attn.query_key_value", /*inOrder=*/false);
  d.attention.projections.output.name = "self_attn.dense";
  d.attention.projections.setBias(true);
  d.attention.norms.query = "self_attn.q_layernorm";
  d.attention.norms.key = "self_attn.k_layernorm";
  if (config.flag("qk_layernorm", true))
    d.useHeadNorms(HeadNorms::Scale::Shared);
  d.feedForward.makePlain("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", /*bias=*/true);
  d.readRopes();
  d.define(g);
}

}  // namespace talc
