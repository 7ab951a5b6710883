// SPDX-License-Identifier: Apache-2.0
// Falcon (arXiv 2311.16867): three ways to lay out queries, keys and values, parts in turn or side by side, rotary
// positions or a bias by position.
#include "frontends/families/Families.h"
#include "frontends/families/PlainModel.h"

namespace talc {

namespace {

struct Falcon : PlainModel {
  explicit Falcon(const ModelConfig &config) {
    config.head({"ForCausalLM", "Model"});
    vocabulary = config.integer("vocab_size", 65024, ModelConfig::size);
    width = tableWidth = config.integer("hidden_size", 4544, ModelConfig::size);
    layers = config.integer(config.has("n_layer") ? "n_layer" : "num_hidden_layers", 32, ModelConfig::layerCount);
    heads = config.integer(config.has("n_head") ? "n_head" : "num_attention_heads", 71, ModelConfig::headCount);
    inner = config.integerOrNull("ffn_hidden_size", {}, ModelConfig::size).value_or(4 * width);
    positions = config.integer("max_position_embeddings", 2048, ModelConfig::positionCount);
    activation = config.activation("activation", "gelu");
    epsilon = config.positive("layer_norm_epsilon", 1e-5);
    tied = config.flag("tie_word_embeddings", true);
    inputBias = outputBias = innerBias = config.flag("bias", false);
    readLayout(config);
    readNorms(config);
    if (!config.failed())
      readPositions(config);
    names.layers = "transformer.h";
    names.table = "transformer.word_embeddings";
    names.lastNorm = "transformer.ln_f";
    names.head = "lm_head";
    names.output = "self_attention.dense";
    names.inner = "mlp.dense_h_to_4h";
    names.outer = "mlp.dense_4h_to_h";
  }

  // Groups of queries with their key and value, all queries with one key and value, or head by head.
  void readLayout(const ModelConfig &config) {
    grouped = config.flag("new_decoder_architecture", false);
    const char *key = config.has("n_head_kv") ? "n_head_kv" : "num_kv_heads";
    bool multiQuery = config.flag("multi_query", true);
    config.passOver({key});
    keyValueHeads = heads;
    if (grouped)
      keyValueHeads = config.integerOrNull(key, {}, ModelConfig::headCount).value_or(heads);
    else if (multiQuery)
      keyValueHeads = 1;
    checkHeads(config, "num_attention_heads", "hidden_size");
  }

  void readNorms(const ModelConfig &config) {
    bool parallel = config.flag("parallel_attn", true);
    int64_t count = config.integerOrNull("num_ln_in_parallel_attn", {}, {1, 2}).value_or(grouped ? 2 : 1);
    if (grouped && !parallel)
      config.unsupported("parallel_attn", "is false, but new_decoder_architecture is true");
    if (!grouped && parallel && count == 2)
      config.unsupported("num_ln_in_parallel_attn", "is 2, but new_decoder_architecture is false");
    residual = !parallel ? Residual::InTurn : count == 2 ? Residual::SideBySide : Residual::OneNorm;
    names.attentionNorm = residual == Residual::SideBySide ? "ln_attn" : "input_layernorm";
    names.innerNorm = residual == Residual::SideBySide ? "ln_mlp" : "post_attention_layernorm";
  }

  void readPositions(const ModelConfig &config) {
    roundedAlibi = config.flag("alibi", false);
    if (roundedAlibi)
      alibi = scale;  // scores are scaled when the bias was added
    else
      rope = config.rope(headWidth, "full_attention", {});
  }

  Tensor project(GraphBuilder &g, Tensor x, char part) const override {
    const char *name = "self_attention.query_key_value";
    if (inOrder)
      return linearPart(g, x, name, partOfAll(part));
    if (!grouped)
      return linearPart(g, x, name, keyValueHeads == heads ? partOfHeads(part) : partOfAll(part));
    int64_t group = heads / keyValueHeads, period = (group + 2) * headWidth;
    if (part == 'q')
      return linearPart(g, x, name, {0, group * headWidth, period, heads});
    return linearPart(g, x, name, {(part == 'k' ? group : group + 1) * headWidth, headWidth, period, keyValueHeads});
  }

  bool grouped;
};

}  // namespace

void defineFalcon(GraphBuilder &g, const ModelConfig &config) {
  Falcon model(config);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
