// SPDX-License-Identifier: Apache-2.0
// GPT-NeoX (arXiv 2204.06745; Pythia, RedPajama, Dolly) and GPT-J: GPT-2 with rotary positions and parts side by side.
#include "frontends/families/Families.h"
#include "frontends/families/PlainModel.h"

namespace talc {

namespace {

struct GptNeoX : PlainModel {
  explicit GptNeoX(const ModelConfig &config) {
    config.head({"ForCausalLM", "Model"});
    vocabulary = config.integer("vocab_size", 50432, ModelConfig::size);
    width = tableWidth = config.integer("hidden_size", 6144, ModelConfig::size);
    layers = config.integer("num_hidden_layers", 44, ModelConfig::layerCount);
    heads = keyValueHeads = config.integer("num_attention_heads", 64, ModelConfig::headCount);
    inner = config.integer("intermediate_size", 24576, ModelConfig::size);
    positions = config.integer("max_position_embeddings", 2048, ModelConfig::positionCount);
    activation = config.activation("hidden_act", "gelu");
    epsilon = config.positive("layer_norm_eps", 1e-5);
    tied = config.flag("tie_word_embeddings", false);
    inputBias = outputBias = config.flag("attention_bias", true);
    residual = config.flag("use_parallel_residual", true) ? Residual::SideBySide : Residual::InTurn;
    checkHeads(config, "num_attention_heads", "hidden_size");
    RopeKeys keys;
    keys.share = 0.25;
    keys.hasShare = true;
    keys.thetaKey = "rotary_emb_base";
    keys.shareKey = "rotary_pct";
    rope = config.rope(headWidth, "full_attention", keys);
    refuseOther(config, "rope_theta", keys.thetaKey, config.positive(keys.thetaKey, keys.theta));
    refuseOther(config, "partial_rotary_factor", keys.shareKey, config.positive(keys.shareKey, keys.share));
    names = {"gpt_neox.layers", "gpt_neox.embed_in", "gpt_neox.final_layer_norm",
             "embed_out",       "input_layernorm",   "post_attention_layernorm",
             "attention.dense", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"};
  }

  // Files have the names of other families beside their own, of which the model is made.
  static void refuseOther(const ModelConfig &config, const char *key, const char *ownKey, double value) {
    if (config.has(key) && config.positive(key, value) != value)
      config.invalid(key, std::string("differs from ") + ownKey + ", which this model_type reads");
  }

  Tensor project(GraphBuilder &g, Tensor x, char part) const override {
    return linearPart(g, x, "attention.query_key_value", partOfHeads(part));
  }
};

// Neighbouring features are turned together.
struct GptJ : PlainModel {
  explicit GptJ(const ModelConfig &config) {
    config.head({"ForCausalLM", "Model"});
    vocabulary = config.integer("vocab_size", 50400, ModelConfig::size);
    width = tableWidth = config.integer("n_embd", 4096, ModelConfig::size);
    layers = config.integer("n_layer", 28, ModelConfig::layerCount);
    heads = keyValueHeads = config.integer("n_head", 16, ModelConfig::headCount);
    inner = config.integerOrNull("n_inner", {}, ModelConfig::size).value_or(4 * width);
    positions = config.integer("n_positions", 2048, ModelConfig::positionCount);
    activation = config.activation("activation_function", "gelu_new");
    epsilon = config.positive("layer_norm_epsilon", 1e-5);
    tied = config.flag("tie_word_embeddings", false);
    inputBias = outputBias = false;
    headBias = hardPositions = true;  // the family tabulates its turns
    residual = Residual::OneNorm;
    checkHeads(config, "n_head", "n_embd");
    int64_t rotary = config.integerOrNull("rotary_dim", 64, {2, headWidth}).value_or(headWidth);
    if (rotary % 2 != 0)
      config.invalid("rotary_dim", "is " + std::to_string(rotary) + ", expected an even number");
    rope = Rope{rotary, 10000, {}};
    names = {"transformer.h", "transformer.wte", "transformer.ln_f", "lm_head", "ln_1", "",
             "attn.out_proj", "mlp.fc_in",       "mlp.fc_out"};
  }

  Tensor project(GraphBuilder &g, Tensor x, char part) const override {
    Weight matrix = g.weight(std::string("attn.") + part + "_proj.weight", {width, width}, "n_embd");
    return g.linear(x, part == 'v' ? matrix : g.halfSplit(matrix, headWidth, rope->rotary));
  }
};

}  // namespace

void defineGptNeoX(GraphBuilder &g, const ModelConfig &config) {
  GptNeoX model(config);
  if (!config.failed())
    model.define(g);
}

void defineGptJ(GraphBuilder &g, const ModelConfig &config) {
  GptJ model(config);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
