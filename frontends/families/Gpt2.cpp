// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019): learned positions, layer norm before each part, one matrix for queries, keys and values.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"

#include <cmath>

namespace talc {

namespace {

struct Gpt2 {
  explicit Gpt2(const ModelConfig &config);
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor attention(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;

  int64_t vocabulary, positions, width, layers, heads, inner;
  Activation activation;
  double epsilon;
  bool scaled, scaledByLayer, tied;
};

}  // namespace

Gpt2::Gpt2(const ModelConfig &config) {
  config.head({"LMHeadModel", "Model"});
  vocabulary = config.integer("vocab_size", 50257, ModelConfig::size);
  positions = config.integer("n_positions", 1024, ModelConfig::positionCount);
  width = config.integer("n_embd", 768, ModelConfig::size);
  layers = config.integer("n_layer", 12, ModelConfig::layerCount);
  heads = config.integer("n_head", 12, ModelConfig::headCount);
  inner = config.integerOrNull("n_inner", {}, ModelConfig::size).value_or(4 * width);
  activation = config.activation("activation_function", "gelu_new");
  epsilon = config.positive("layer_norm_epsilon", 1e-5);
  scaled = config.flag("scale_attn_weights", true);
  scaledByLayer = config.flag("scale_attn_by_inverse_layer_idx", false);
  tied = config.flag("tie_word_embeddings", true);
  // reorder_and_upcast_attn only asks for the f32 attention that talc computes anyway.
  config.refuseFlag("add_cross_attention", "talc knows GPT-2 as a decoder without an encoder");
  config.requireDivides("n_head", heads, "n_embd", width);
}

// Conv1D stores its matrix as [inputs, outputs].
Tensor Gpt2::linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs) const {
  Weight matrix = g.weight(name + ".weight", {x.width(), outputs}, "inputs by outputs");
  return g.linear(x, g.transpose(matrix), g.weight(name + ".bias", {outputs}));
}

Tensor Gpt2::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  return g.layerNorm(x, name, epsilon);
}

Tensor Gpt2::attention(GraphBuilder &g, Tensor x, int64_t number) const {
  Tensor all = linear(g, x, "attn.c_attn", 3 * width);
  double scale = scaled ? 1 / std::sqrt(static_cast<double>(width / heads)) : 1;
  if (scaledByLayer)
    scale /= static_cast<double>(number + 1);
  Tensor mixed = g.cachedAttention(g.slice(all, 0, width), g.slice(all, width, width), g.slice(all, 2 * width, width),
                                   {heads, heads, scale});
  return linear(g, mixed, "attn.c_proj", width);
}

Tensor Gpt2::layer(GraphBuilder &g, Tensor x, int64_t number) const {
  x = g.add(x, attention(g, norm(g, x, "ln_1"), number));
  Tensor hidden = g.activation(linear(g, norm(g, x, "ln_2"), "mlp.c_fc", inner), activation);
  return g.add(x, linear(g, hidden, "mlp.c_proj", width));
}

void defineGpt2(GraphBuilder &g, const ModelConfig &config) {
  Gpt2 model(config);
  if (config.failed())
    return;
  g.positions(model.positions, /*hard=*/true);
  auto [table, head] =
      g.tiedWeights("transformer.wte.weight", "lm_head.weight", {model.vocabulary, model.width}, model.tied);
  Weight positions = g.weight("transformer.wpe.weight", {model.positions, model.width}, "n_positions by n_embd");
  Tensor x = g.add(g.embedding(table), g.position(positions));
  x = g.repeat("transformer.h", model.layers, x, [&](Tensor x, int64_t number) { return model.layer(g, x, number); });
  x = model.norm(g, g.select(x), "transformer.ln_f");
  g.output(g.linear(x, head));
}

}  // namespace talc
