// SPDX-License-Identifier: Apache-2.0
// The decoder of Llama, for families that vary it: each overrides the parts in which it differs.
//
//   x = embedding;  for each layer: x += attention(norm(x));  x += down(activation(gate(x)) * up(x)) of norm(x)
//   logits = head(norm(x))
//
// Rotary positions, grouped key-value heads, one norm before each part. Names of tensors are those of Llama.
#pragma once

#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"

#include <functional>
#include <optional>

namespace talc {

// Default values of the configuration, and some of its keys.
struct LlamaDefaults {
  int64_t vocabulary = 32000, width = 4096, inner = 11008, layers = 32, heads = 32, positions = 2048;
  std::optional<int64_t> keyValueHeads = {};  // none: as many as heads
  std::optional<int64_t> headWidth = {};      // none: hidden_size / num_attention_heads
  double epsilon = 1e-6;
  const char *epsilonKey = "rms_norm_eps", *activationKey = "hidden_act", *activation = "silu";
  bool tied = false;
  bool ownHeadWidth = true;                                           // head_dim is a key
  const char *lastNorm = "model.norm", *output = "self_attn.o_proj";  // names of tensors
  RopeKeys rope = {};
};

struct LlamaModel {
  LlamaModel(const ModelConfig &config, const LlamaDefaults &defaults);
  virtual ~LlamaModel() = default;

  void define(GraphBuilder &g) const;

  // A projection of attention's input.
  struct Heads {
    const char *name;  // q, k or v
    int64_t count;
  };

  // attention_bias and mlp_bias, which are refused where a family has no such biases.
  void readBiases(const ModelConfig &config, bool attention, bool inner);
  // The window of each layer: by layer_types, or where `slides` says so without that key.
  void readWindows(const ModelConfig &config, std::optional<int64_t> window,
                   const std::function<bool(int64_t layer)> &slides);
  // The rotary embedding of each layer, by its type.
  void readRopes(const ModelConfig &config);

  virtual Tensor embed(GraphBuilder &g, Weight table) const { return g.embedding(table); }
  virtual Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const;
  virtual Tensor attention(GraphBuilder &g, Tensor x, int64_t number) const;
  virtual Tensor feedForward(GraphBuilder &g, Tensor x) const;
  // Normalizes the features between layers.
  virtual Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;
  // Queries, keys or values before normalization and rope.
  virtual Tensor project(GraphBuilder &g, Tensor x, Heads heads) const;
  // Normalizes queries and keys.
  virtual Tensor normHeads(GraphBuilder &g, Tensor x, Heads heads) const;
  // Attention sinks: a score without a value in the softmax of each head; none by default.
  virtual Weight sinks(GraphBuilder &) const { return {}; }
  virtual Tensor logits(GraphBuilder &g, Tensor x, Weight head) const { return g.linear(x, head); }

  // Queries or keys, projected and normalized head by head; and with rope applied.
  Tensor heading(GraphBuilder &g, Tensor x, Heads heads) const { return normHeads(g, project(g, x, heads), heads); }
  Tensor rotated(GraphBuilder &g, Tensor x, Heads heads, int64_t number) const;
  Tensor linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias,
                const std::string &why) const;
  Heads queries() const { return {"q", heads}; }
  Heads keys() const { return {"k", keyValueHeads}; }
  Heads values() const { return {"v", keyValueHeads}; }

  LlamaDefaults defaults;
  int64_t vocabulary, width, inner, layers, positions;
  int64_t heads, keyValueHeads, headWidth;
  std::vector<int64_t> windows;            // per layer; 0: none
  std::vector<std::optional<Rope>> ropes;  // per layer; none: no positions
  Activation activation;
  double epsilon, scale;  // of scores
  double cap = 0;         // of scores; 0: none
  Mask mask = Mask::Causal;
  bool inputBias = false, outputBias = false, innerBias = false, headNorms = false, tied;

  // Infini-attention (arXiv 2404.07143).
  struct Infini {
    int64_t segment;
    bool delta, localFirst;
  };
  std::optional<Infini> infini;

private:
  void readHeads(const ModelConfig &config);
  void readInfini(const ModelConfig &config);
};

// Reads the configuration as a Model and defines the graph.
template <typename Model, typename... Arguments>
void defineAs(GraphBuilder &g, const ModelConfig &config, const Arguments &...arguments) {
  Model model(config, arguments...);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
