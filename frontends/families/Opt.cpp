// SPDX-License-Identifier: Apache-2.0
// OPT (arXiv 2205.01068): GPT-2 with an embedding that may be narrower than the layers, and layer norms that may come
// behind the parts.
#include "frontends/families/Families.h"
#include "frontends/families/PlainModel.h"

namespace talc {

namespace {

struct Opt : PlainModel {
  explicit Opt(const ModelConfig &config) {
    config.head({"ForCausalLM", "Model"});
    vocabulary = config.integer("vocab_size", 50272, ModelConfig::size);
    width = config.integer("hidden_size", 768, ModelConfig::size);
    tableWidth = config.integerOrNull("word_embed_proj_dim", {}, ModelConfig::size).value_or(width);
    layers = config.integer("num_hidden_layers", 12, ModelConfig::layerCount);
    heads = keyValueHeads = config.integer("num_attention_heads", 12, ModelConfig::headCount);
    inner = config.integer("ffn_dim", 3072, ModelConfig::size);
    positions = config.integer("max_position_embeddings", 2048, ModelConfig::positionCount);
    activation = config.activation("activation_function", "relu");
    tied = config.flag("tie_word_embeddings", true);
    inputBias = outputBias = innerBias = config.flag("enable_bias", true);
    normsFirst = config.flag("do_layer_norm_before", true);
    normLast = normsFirst && !config.flag("_remove_final_layer_norm", false);
    if (!config.flag("layer_norm_elementwise_affine", true))
      config.unsupported("layer_norm_elementwise_affine", "is false; talc knows the family with weights at norms");
    hardPositions = true;
    checkHeads(config, "num_attention_heads", "hidden_size");
    names = {"model.decoder.layers",
             "model.decoder.embed_tokens",
             "model.decoder.final_layer_norm",
             "lm_head",
             "self_attn_layer_norm",
             "final_layer_norm",
             "self_attn.out_proj",
             "fc1",
             "fc2"};
  }

  // The first two rows of the table are not positions.
  Tensor embed(GraphBuilder &g, Weight table) const override {
    constexpr int64_t first = 2;
    Weight rows = g.weight("model.decoder.embed_positions.weight", {positions + first, width},
                           "max_position_embeddings + 2 by hidden_size");
    Tensor x = g.embedding(table);
    if (tableWidth != width)
      x = linear(g, x, "model.decoder.project_in", width, false);
    return g.add(x, g.position(rows, first));
  }
  Tensor layer(GraphBuilder &g, Tensor x) const override {
    if (normsFirst)
      return PlainModel::layer(g, x);
    x = norm(g, g.add(x, attention(g, x)), names.attentionNorm);
    return norm(g, g.add(x, feedForward(g, x)), names.innerNorm);
  }
  Tensor project(GraphBuilder &g, Tensor x, char part) const override {
    return linear(g, x, std::string("self_attn.") + part + "_proj", width, inputBias);
  }
  Tensor finish(GraphBuilder &g, Tensor x) const override {
    if (normLast)
      x = norm(g, x, names.lastNorm);
    return tableWidth != width ? linear(g, x, "model.decoder.project_out", tableWidth, false) : x;
  }

  bool normsFirst, normLast;
};

}  // namespace

void defineOpt(GraphBuilder &g, const ModelConfig &config) {
  Opt model(config);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
