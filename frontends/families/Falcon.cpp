// SPDX-License-Identifier: Apache-2.0
// Falcon (arXiv 2311.16867): queries, keys and values by GQA groups, parts in turn or side by side, rotary positions or
// a bias by position.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

static DecoderDefaults falconSizes(const ModelConfig &config) {
  DecoderDefaults sizes = {.vocabulary = 65024,
                           .width = 4544,
                           .inner = 0,
                           .heads = 71,
                           .epsilon = 1e-5,
                           .activation = "gelu",
                           .tied = true,
                           .keys = {.inner = "ffn_hidden_size",
                                    .keyValueHeads = nullptr,
                                    .headWidth = nullptr,
                                    .epsilon = "layer_norm_epsilon",
                                    .activation = "activation",
                                    .infini = nullptr}};
  if (config.has("n_layer"))
    sizes.keys.layers = "n_layer";
  if (config.has("n_head"))
    sizes.keys.heads = "n_head";
  config.passOver({"n_head_kv", "num_kv_heads"});  // of groups
  if (config.flag("new_decoder_architecture", false))
    sizes.keys.keyValueHeads = config.has("n_head_kv") ? "n_head_kv" : "num_kv_heads";
  return sizes;
}

// Groups of queries with their key and value, all queries with one key and value, or head by head.
static void readLayout(Decoder &d, bool isGrouped) {
  bool isShared = d.config.flag("multi_query", true) && !isGrouped;
  if (isShared)
    d.attention.sizes.keyValueHeads = 1;
  d.attention.projections.pack("self_attention.query_key_value", d.config.flag("qkv_in_order", false));
  d.attention.projections.output.name = "self_attention.dense";
}

static void readNorms(Decoder &d, bool isGrouped) {
  bool isParallel = d.config.flag("parallel_attn", true);
  int64_t count = d.config.integerOrNull("num_ln_in_parallel_attn", {}, {1, 2}).value_or(isGrouped ? 2 : 1);
  if (isGrouped && !isParallel)
    d.config.unsupported("parallel_attn", "is false, but new_decoder_architecture is true");
  if (!isGrouped && isParallel && count == 2)
    d.config.unsupported("num_ln_in_parallel_attn", "is 2, but new_decoder_architecture is false");
  if (isParallel && count == 2)
    d.useLayerNorms(/*bias=*/true, "ln_attn", "ln_mlp");
  else
    d.useLayerNorms(/*bias=*/true, "input_layernorm", isParallel ? "" : "post_attention_layernorm");
  d.isParallel = isParallel;
}

void defineFalcon(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, falconSizes(config));
  bool isGrouped = config.flag("new_decoder_architecture", false), hasBias = config.flag("bias", false);
  readLayout(d, isGrouped);
  readNorms(d, isGrouped);
  d.attention.projections.setBias(hasBias);
  d.feedForward.makePlain("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", hasBias);
  d.layersName = "transformer.h";
  d.embedding.table = "transformer.word_embeddings";
  d.head.norm = "transformer.ln_f";
  if (config.flag("alibi", false))
    d.attention.alibi = Alibi{d.attention.scale};  // scores are scaled when the bias was added
  else if (!config.failed())
    d.readRopes();
  d.define(g);
}

}  // namespace talc
