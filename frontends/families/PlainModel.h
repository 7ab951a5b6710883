// SPDX-License-Identifier: Apache-2.0
// A decoder with layer norms and a plain feed-forward, as in the successors of GPT-2. Families that vary it give the
// names of their tensors and the layout of fused queries, keys and values.
//
//   sequential:     x += attention(norm1(x));  x += outer(activation(inner(norm2(x))))
//   parallel:       x += attention(norm1(x)) + outer(activation(inner(norm2(x))))
//   one norm:       parallel, with norm1 for both
#pragma once

#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"

#include <optional>

namespace talc {

enum class Residual { InTurn, SideBySide, OneNorm };

// Names of tensors; names in layers have no prefix.
struct PlainNames {
  std::string layers, table, lastNorm, head;
  std::string attentionNorm, innerNorm, output, inner, outer;
};

struct PlainModel {
  virtual ~PlainModel() = default;

  void define(GraphBuilder &g);

  // The rows of queries, keys or values in a fused projection: `count` of every `period` rows, from `first` on.
  struct Part {
    int64_t first, count, period, heads;
  };

  virtual Tensor embed(GraphBuilder &g, Weight table) const { return g.embedding(table); }
  virtual Tensor layer(GraphBuilder &g, Tensor x) const;
  virtual Tensor project(GraphBuilder &g, Tensor x, char part) const = 0;  // q, k or v
  virtual Tensor finish(GraphBuilder &g, Tensor x) const { return norm(g, x, names.lastNorm); }

  Tensor attention(GraphBuilder &g, Tensor x) const;
  Tensor feedForward(GraphBuilder &g, Tensor x) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;
  Tensor linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias) const;
  // Some rows of a projection.
  Tensor linearPart(GraphBuilder &g, Tensor x, const std::string &name, const Part &part) const;
  // Queries, keys or values in a projection that has query, key and value of each head together.
  Part partOfHeads(char part) const;
  // Does the same in a projection with all queries, then all keys, then all values.
  Part partOfAll(char part) const;
  void checkHeads(const ModelConfig &config, const char *headsKey, const char *widthKey);

  PlainNames names;
  int64_t vocabulary, tableWidth, width, inner, layers, positions, heads, keyValueHeads, headWidth;
  Activation activation;
  double epsilon = 1e-5, scale;  // of scores
  Residual residual = Residual::InTurn;
  std::optional<Rope> rope;
  double alibi = 0;  // 1: the bias falls with the distance; see GraphBuilder::alibi for others, which round it
  bool roundedAlibi = false, hardPositions = false;
  bool inOrder =
      false;  // all queries of a fused projection lie before all keys, whatever the family's checkpoints have
  bool inputBias = true, outputBias = true, innerBias = true, normBias = true, headBias = false, tied = false;

private:
  Weight bias;  // of attention
};

}  // namespace talc
