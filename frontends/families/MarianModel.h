// SPDX-License-Identifier: Apache-2.0
// The encoder-decoder of Vaswani et al. 2017, for families that vary its positions, norms and names.
#pragma once

#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace talc {

// Learned: rows of a table. Counted: sinusoids that take no account of padding.
enum class MarianPositions { Sinusoids, Learned, Counted };

// Tensor names of the encoder's attention.
struct MarianAttention {
  std::string query = "self_attn.q_proj", key = "self_attn.k_proj", value = "self_attn.v_proj",
              output = "self_attn.out_proj";
};

// The differences between the variants; numbers are default values of the configuration.
struct MarianVariant {
  int64_t vocabulary = 50265, padding = 1;
  MarianPositions positions = MarianPositions::Sinusoids;
  const char *activation = "gelu";
  bool scaledEmbedding = false;
  int64_t learnedFirst = 2;  // the row of the first learned position
  bool normBefore = false, normEmbedding = false;
  bool normTargets = false;  // the decoder adds positions behind that norm
  int64_t layers = 12;
  int64_t usedPositions = 0;  // > 0: texts have no more tokens, whatever the table has
  // Keys of positions; the decoder may have another than the encoder.
  const char *positionsKey = "max_position_embeddings", *targetPositionsKey = "max_position_embeddings";
  int64_t positionCount = 1024;
  std::vector<int64_t> windows = {};  // of the encoder's layers; empty: none has one
  const char *sourceKey = "vocab_size";
  const char *targetKey = nullptr;  // of a vocabulary and a table of the decoder's own; null: there are none
  bool tied = true;                 // the default of tie_word_embeddings
  std::string base = "model.", head = "lm_head", lastNorm = "layer_norm";
  MarianAttention encoderAttention = {};
  bool attentionBias = true;
  // The class of a text reads the text, and again, behind this token, in the decoder; -1: the family has none.
  int64_t classStart = -1;
  bool options = false;  // keys of versions before 4 of transformers, in which Marian shared its code with BART
};

// The encoder or the decoder.
struct MarianStack {
  MarianStack(const ModelConfig &config, const MarianVariant &variant, const std::string &name, int64_t width);

  std::string place;  // of its tensors
  int64_t layers, heads, inner;
};

// The results: scores of words, classes of the text, or of its tokens.
enum class MarianTask { Words, Text, Tokens };

struct Marian {
  Marian(const ModelConfig &config, const MarianVariant &variant);
  void readTask(const ModelConfig &config);
  void readVocabulary(const ModelConfig &config);
  void readOptions(const ModelConfig &config);
  void checkOptions(const ModelConfig &config) const;
  // The names of the encoder's and of the decoder's table.
  struct TableNames {
    std::string source, target;
  };

  TableNames tableNames(GraphBuilder &g) const;
  void define(GraphBuilder &g) const;
  void defineWords(GraphBuilder &g, const TableNames &names) const;
  void defineClasses(GraphBuilder &g, const TableNames &names) const;
  Tensor begin(GraphBuilder &g, const MarianStack &stack, Tensor x) const;
  Tensor places(GraphBuilder &g, const MarianStack &stack) const;
  Tensor end(GraphBuilder &g, const MarianStack &stack, Tensor x) const;
  Tensor encode(GraphBuilder &g, Weight table) const;
  void keepSource(GraphBuilder &g, Tensor memory) const;
  // Without `memory` the source is in KV caches.
  Tensor decode(GraphBuilder &g, Tensor x, Tensor memory) const;
  KvCache source(GraphBuilder &g) const { return g.sourceKvCache("source", decoder.heads, width / decoder.heads); }
  Tensor linear(GraphBuilder &g, Tensor x, const std::string &name) const;
  Tensor selfAttention(GraphBuilder &g, Tensor x, int64_t heads, Mask mask, int64_t layer) const;
  Tensor crossAttention(GraphBuilder &g, Tensor x, Tensor memory) const;
  Tensor feedForward(GraphBuilder &g, Tensor x, int64_t inner) const;
  // x + part(norm(x)) or norm(x + part(x)).
  Tensor residual(GraphBuilder &g, Tensor x, const std::string &name, const std::function<Tensor(Tensor)> &part) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;
  double scale(int64_t heads) const { return 1 / std::sqrt(static_cast<double>(width / heads)); }

  MarianVariant variant;
  int64_t width, positions, targetPositions, padding, sourceVocabulary, vocabulary;
  MarianStack encoder, decoder;
  Activation activation;
  MarianTask task;
  std::vector<std::string> labels;
  int64_t startToken = -1, endToken = -1;  // of classes
  bool scaledEmbedding, sharedEmbedding = true, tied, normBefore, normEmbedding, normEnd;
};

}  // namespace talc
