// SPDX-License-Identifier: Apache-2.0
// The description of a decoder: a family reads its configuration into one and lets it define the graph.
//
//   x = embedding;  for each layer: x += attention(norm(x));  x += feedForward(norm(x));  logits = head(norm(x))
//
// By default it is Llama's, with its names of tensors, RMS norms before the parts, rope, and a gated feed-forward.
#pragma once

#include "frontends/ModelConfig.h"
#include "frontends/families/decoder/HeadAttention.h"
#include "frontends/families/decoder/MoeLayer.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace talc {

// Keys of the configuration; null where a family has none.
struct DecoderKeys {
  const char *vocabulary = "vocab_size", *width = "hidden_size", *inner = "intermediate_size",
             *layers = "num_hidden_layers", *heads = "num_attention_heads", *keyValueHeads = "num_key_value_heads",
             *headWidth = "head_dim", *positions = "max_position_embeddings", *epsilon = "rms_norm_eps",
             *activation = "hidden_act", *infini = "infini_attention";
};

// The keys that GPT-2 has, and GPT-J.
constexpr DecoderKeys gpt2Keys = {.width = "n_embd",
                                  .inner = "n_inner",
                                  .layers = "n_layer",
                                  .heads = "n_head",
                                  .keyValueHeads = nullptr,
                                  .headWidth = nullptr,
                                  .positions = "n_positions",
                                  .epsilon = "layer_norm_epsilon",
                                  .activation = "activation_function",
                                  .infini = nullptr};

// Default values of the configuration.
struct DecoderDefaults {
  int64_t vocabulary = 32000, width = 4096;
  int64_t inner = 11008;  // 0: four times the width
  int64_t layers = 32, heads = 32, positions = 2048;
  std::optional<int64_t> keyValueHeads = {};  // none: as many as heads
  std::optional<int64_t> headWidth = {};      // none: width / heads
  double epsilon = 1e-6;
  const char *activation = "silu";
  bool tied = false;
  RopeKeys rope = {};
  DecoderKeys keys = {};
  int64_t padding = -1;    // the id of the token that pads texts; -1: none
  bool isEncoder = false;  // it reads whole texts in both directions, and predicts masked words
};

// Whether something is so in a layer.
using LayerRule = std::function<bool(int64_t layer)>;

LayerRule inEveryLayer();
LayerRule inNoLayer();
// In all layers but every `period`th.
LayerRule exceptEvery(int64_t period);
// In layers from `first` on.
LayerRule fromLayer(int64_t first);

// The norms of a part of a layer, by the names of their tensors; empty: there is none.
struct PartNorms {
  std::string input;   // if parts are parallel and the second has none, both read the first one's
  std::string output;  // before it is added to the residual
  std::string sum;     // with the residual
};

// The layers before the repeated ones.
struct DecoderEmbedding {
  std::string table = "model.embed_tokens";
  double factor = 1;
  bool isRounded = false;              // the factor is rounded to the type that the table is stored in
  std::string positions;               // the table of learned positions; empty: none
  std::optional<Sinusoids> sinusoids;  // instead of a table
  int64_t firstPosition = 0;           // its row for the first token
  std::string norm;                    // empty: none
  std::string projection;              // from a table of another width than the layers; empty: none
};

// The results: scores of next words, of masked words, hidden states, classes of a text or of its tokens.
enum class DecoderTask { Words, Masked, Hidden, Text, Tokens };

// The layers behind the repeated ones.
struct DecoderHead {
  DecoderTask task = DecoderTask::Words;
  std::vector<std::string> classifiers;  // the names that the tensor of classes may have
  std::vector<std::string> labels;       // of classes
  int64_t padding = -1;                  // a text's classes are those of the last other token; -1: of the last one
  bool classifierBias = false;
  // Makes what a text's classes are made of, from hidden states of all tokens, for the wanted one.
  std::function<Tensor(GraphBuilder &, Tensor)> pool;
  bool hasNormBias = true;          // as other norms
  std::string norm = "model.norm";  // empty: none
  std::string projection;           // to a head of another width than the layers; empty: none
  std::string name = "lm_head";
  bool isTied = false;  // its matrix is the embedding's table
  bool bias = false;
  std::function<Tensor(GraphBuilder &g, Tensor x)> transform;  // behind the norm, before logits; empty: none
  double factor = 1;                                           // of logits
  double cap = 0;                                              // of logits; 0: none
};

struct Decoder {
  // Reads sizes, heads and what else `defaults` names. Keeps a reference to the configuration.
  Decoder(const ModelConfig &config, const DecoderDefaults &defaults);

  // attention_bias and mlp_bias, which are refused where a family has no such biases.
  void readBiases(bool hasAttentionBias, bool hasInnerBias);
  // The window of each layer: by layer_types, or where `slides` says so without that key.
  void readWindows(std::optional<int64_t> window, const LayerRule &slides);
  // The value of sliding_window.
  std::optional<int64_t> windowOr(std::optional<int64_t> fallback) const;
  // The rope of each layer, by its type; without readWindows no layer has a window.
  void readRopes() { readRopes(defaults.rope); }
  // Layers with windows have keys and scaling of their own.
  void readRopes(const RopeKeys &sliding);
  // Whether a layer has positions: no_rope_layers is 1 where it has.
  LayerRule readRopeLayers() const;
  // Layers without positions.
  void dropRopes(const LayerRule &where);
  // Layers of these types, as layer_types calls them, have a part with a state for attention; without that key those
  // where `usual` says so. Called before readWindows.
  void readStateLayers(const std::vector<std::string> &types, const LayerRule &usual);
  // Gives these layers a part for attention.
  void replaceAttention(const LayerPart &part);
  // Layers where `where` says so have this part for the feed-forward.
  void replaceFeedForward(const LayerRule &where, const LayerPart &part);

  // Layer norms before both parts; one for both if the second has no name, so that the parts run side by side.
  void useLayerNorms(bool bias, const std::string &attentionNorm, const std::string &innerNorm = {});

  // A cap of scores or logits, which null turns off; fallback 0: so does its absence.
  double readCap(const char *key, double fallback) const;

  // Norms of queries and keys, of the same form as those between parts.
  void useHeadNorms(HeadNorms::Scale scale);
  // Norms behind the parts instead of before them.
  void useOutputNorms(const std::string &attentionNorm, const std::string &innerNorm);
  // Scores grow with the position of the query; `key` is that of the period.
  void useGrowth(const Growth &growth, const char *key);
  // Files pair the neighbors of the features that rope turns; called behind readRopes.
  void pairNeighbors();

  // Writes the graph, unless the configuration is wrong.
  void define(GraphBuilder &g);

  const ModelConfig &config;
  DecoderDefaults defaults;
  int64_t vocabulary, width, layers, positions;
  int64_t tableWidth;             // of the embedding
  bool hasHardPositions = false;  // there are no others
  std::string layersName = "model.layers";
  DecoderEmbedding embedding;
  DecoderHead head;

  Norm norm;  // of features between parts
  PartNorms attentionNorms = {"input_layernorm", {}, {}}, innerNorms = {"post_attention_layernorm", {}, {}};
  bool isFirstNormed = true;  // the attention of the first layer has a norm before it
  // The same of layers without a state, where those with one have others.
  std::optional<std::pair<PartNorms, PartNorms>> stateless;
  bool isParallel = false;         // both parts read the layer's input
  bool hasNormedResidual = false;  // the residual is what a part reads
  double residualFactor = 1;       // of what parts yield

  HeadAttention attention;
  FeedForward feedForward;
  std::vector<std::string> stateTypes;  // the entries of layer_types for layers with states; empty: there are none
  std::vector<bool> stateLayers;        // per layer: has a part with a state for attention; empty: no layer has
  bool hasOnePart = false;              // layers have no feed-forward beside attention or what replaces it

  LayerPart otherAttention;    // instead of `attention`
  LayerPart otherFeedForward;  // instead of `feedForward`

private:
  void readTask();
  void readHeads();
  void readInfini();
  void chooseTask(GraphBuilder &g);
  void definePositions(GraphBuilder &g) const;
  Tensor embed(GraphBuilder &g, Weight table) const;
  bool hasState(int64_t layer) const { return !stateLayers.empty() && stateLayers[layer]; }
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor normed(GraphBuilder &g, Tensor x, const std::string &name) const;
  Tensor joined(GraphBuilder &g, Tensor residual, Tensor made, const PartNorms &norms) const;
  Tensor logits(GraphBuilder &g, Tensor x, Weight matrix) const;
  Tensor finalStates(GraphBuilder &g, Tensor x) const;
  void defineClasses(GraphBuilder &g, Tensor x) const;
};

}  // namespace talc
