// SPDX-License-Identifier: Apache-2.0
// The encoder of BERT, for families that vary it: layer norm after each part, learned positions, usually token types.
//
//   x = norm(embedding + position + type), projected if the embedding is narrower
//   for each layer: x = norm(x + attention(x));  x = norm(x + outer(activation(inner(x))))
#pragma once

#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"

#include <optional>

namespace talc {

// Keys of the configuration.
struct BertKeys {
  const char *width = "hidden_size", *layers = "num_hidden_layers", *heads = "num_attention_heads",
             *inner = "intermediate_size", *activation = "hidden_act";
};

// Tensor names of a layer.
struct BertLayer {
  std::string query = "attention.self.query", key = "attention.self.key", value = "attention.self.value",
              mixed = "attention.output.dense", mixedNorm = "attention.output.LayerNorm", inner = "intermediate.dense",
              outer = "output.dense", outerNorm = "output.LayerNorm";
  std::string gate = {};    // whose activation multiplies `inner`; empty: the feed-forward is plain
  std::string packed = {};  // queries, keys and values in one matrix; empty: they have one each
  std::string pair = {};    // `inner` and then `gate` in one matrix, likewise
};

// Linear layers that files store as convolutions of one token, by groups of features (SqueezeBERT).
struct BertGroups {
  int64_t query = 1, key = 1, value = 1, mixed = 1, inner = 1, outer = 1;
};

// Tensor names of the head that predicts masked tokens.
struct MaskedHead {
  std::string dense, norm, projection, bias;
};

// The head that classifies texts.
struct TextHead {
  std::string dense, projection;
  Activation activation = Activation::Tanh;
};

// A table whose first row is added to all embeddings, as often as it says: of an input that talc knows only as zeros.
struct ZeroInput {
  std::string table;
  int64_t rows;
  int times = 1;
};

// The default sizes of the configuration.
struct BertSizes {
  int64_t vocabulary = 30522, width = 768, layers = 12, heads = 12, inner = 3072, table = 0;
  int64_t types = 2;  // of tokens
  int64_t positions = 512;
  int64_t output = 0;  // features of the masked head, whose table is never tied; 0: those of the table
  const char *tableKey = "embedding_size";
};

// The differences between the variants.
struct BertVariant {
  std::string base;  // prefix of tensor names
  MaskedHead masked;
  TextHead text;
  BertSizes sizes = {};
  const char *activation = "gelu";
  int64_t padding = 0;        // the default id of the padding token
  bool ownPadding = true;     // pad_token_id says another
  bool afterPadding = false;  // positions count tokens that are not padding, from the padding token's id + 1
  bool hasTypes = true;
  bool hasEpsilon = true;       // layer_norm_eps is a key
  double epsilon = 1e-12;       // its default
  int64_t usedPositions = 0;    // > 0: texts have no more tokens, whatever the table has
  bool geluHead = false;        // the masked head has gelu whatever the layers have
  bool distanceBias = false;    // scores get T5's bias by distance
  std::string projection = {};  // from a table that is narrower than the layers; empty: there is none
  bool alwaysProjects = false;  // even if it is not narrower
  // With the name of a norm behind all layers, norms come before the parts: `mixedNorm` before attention, `outerNorm`
  // before the feed-forward.
  std::string lastNorm = {};
  std::string tableNorm = "embeddings.LayerNorm";  // behind the sum of embeddings; empty: there is none
  // Queries and keys are turned by position, and there is no table of positions. Without a key the base is fixed.
  std::optional<RopeKeys> rope = {};
  bool turnsNeighbors = false;         // features 2i and 2i + 1 of a head; else those of its halves
  const char *headWidthKey = nullptr;  // null: the width divided by the heads
  bool attentionBias = true, innerBias = true, outerBias = true;
  bool inputBias = true;                  // of queries, keys and values, if attention has biases
  bool isEmbeddingScaled = false;         // by the root of the width
  std::optional<BertGroups> groups = {};  // none: linear layers are not convolutions
  std::vector<ZeroInput> zeroInputs = {};
  std::vector<int64_t> windows = {};  // of layers: a token sees those at a smaller distance; empty: none has one
  std::string layers = "encoder.layer";
  BertKeys keys = {};
  BertLayer layer = {};
  std::string discriminator =
      {};  // the head of ForPreTraining, one score for each token; empty: it predicts masked tokens
  // The head of ForMultipleChoice, one score for each text; no `dense`: BERT's own pooler. No `projection`: there is
  // none.
  TextHead choice = {"", "classifier"};
  bool hasNextSentence = false;  // ForNextSentencePrediction exists
};

class BertModel {
public:
  BertModel(const ModelConfig &config, const BertVariant &variant);
  virtual ~BertModel() = default;

  void define(GraphBuilder &g);

protected:
  // The embeddings of words.
  virtual Tensor words(GraphBuilder &g, Weight table) const;
  // Applies all layers.
  virtual Tensor encode(GraphBuilder &g, Tensor x) const;
  Tensor layer(GraphBuilder &g, Tensor x, int64_t number) const;
  // Changes the sum of a layer's feed-forward and the residual, before a norm behind it.
  virtual Tensor adapt(GraphBuilder &, Tensor sum) const { return sum; }

  BertVariant variant;
  int64_t layers, width, heads, vocabulary;
  Activation activation;
  double epsilon;

private:
  enum class Head { None, Masked, Discriminator, Text, Tokens, Question };

  void readHeads(const ModelConfig &config);
  void readPositions(const ModelConfig &config);
  void readHead(const ModelConfig &config);
  void useChoice(const ModelConfig &config);
  void useNextSentence(const ModelConfig &config);
  // Part `number` of a matrix that holds `parts` of `outputs` rows each.
  struct Part {
    std::string name;
    int64_t number = 0, parts = 1;
    bool isTurned = false;  // rows of heads are put into the order that rope turns
    int64_t groups = 1;     // of a convolution
  };

  Tensor linear(GraphBuilder &g, Tensor x, const Part &part, int64_t outputs, bool bias) const;
  bool isGated() const { return !variant.layer.gate.empty() || !variant.layer.pair.empty(); }
  Tensor embedding(GraphBuilder &g, Weight table) const;
  Tensor zeroInput(GraphBuilder &g, Tensor x, const ZeroInput &input) const;
  Tensor attention(GraphBuilder &g, Tensor x, int64_t number) const;
  Tensor feedForward(GraphBuilder &g, Tensor x) const;
  Tensor maskedLogits(GraphBuilder &g, Tensor x, Weight projection) const;
  Tensor replacedScores(GraphBuilder &g, Tensor x) const;
  Tensor textClasses(GraphBuilder &g, Tensor x) const;
  Tensor convolution(GraphBuilder &g, Tensor x, const Part &part, int64_t outputs) const;
  void defineHead(GraphBuilder &g, Tensor x, Weight projection) const;

  Head head;
  int64_t positions, firstPosition, padding, types = 0, tableWidth, outputWidth;
  int64_t headWidth, inner, buckets = 0;
  std::optional<Rope> rope;
  Activation headActivation;
  bool tied;
  std::vector<std::string> labels;
  Weight bias;  // of attention
};

}  // namespace talc
