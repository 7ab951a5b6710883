// SPDX-License-Identifier: Apache-2.0
// The vocabulary that model families are written in, and the public C++ way to define a model.
//
//   GraphBuilder g(context, weights, diagnostics, {});
//   Weight table = g.weight("embed.weight", {vocabulary, width});
//   Tensor x = g.embedding(table);
//   x = g.repeat("layers", 12, x, [&](Tensor x, int64_t) {
//     Tensor h = g.rmsNorm(x, g.weight("norm.weight", {width}), 1e-5);   // layers.0.norm.weight, layers.1.norm.weight,
//     ... return g.add(x, g.linear(h, g.weight("proj.weight", {width, width})));
//   });
//   g.output(g.linear(g.select(x), table));
//   mlir::OwningOpRef<mlir::ModuleOp> module = g.finish();
//
// Activations are [tokens, width]; the tokens of all sequences of a step lie end to end. Token ids and the borders of
// sequences are implicit. An error is remembered in the Diagnostics, and from then on every operation yields an empty
// handle, so that a definition needs no checks of its own.
#pragma once

#include "frontends/Layers.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
template <typename OpTy> class OwningOpRef;
}  // namespace mlir

namespace talc {

class Diagnostics;
class WeightSource;

// Activations [tokens, width] of f32. What a layer makes can be used in that layer only.
class Tensor {
public:
  explicit operator bool() const { return value != nullptr; }
  int64_t width() const { return features; }

private:
  friend class GraphBuilder;
  const void *value = nullptr;
  int64_t features = 0;
  int64_t scope = 0;  // the layer that made it; 0: none
};

// A named weight. Its values are f32 in the program, whatever the file stores.
class Weight {
public:
  explicit operator bool() const { return index >= 0; }

private:
  friend class GraphBuilder;
  int64_t index = -1;
};

// Keys and values that every sequence keeps between steps.
class State {
public:
  explicit operator bool() const { return index >= 0; }

private:
  friend class GraphBuilder;
  int64_t index = -1;
};

class GraphBuilder {
public:
  using Shape = std::vector<int64_t>;
  // One layer of a repeated block: its input and its number.
  using Body = std::function<Tensor(Tensor x, int64_t layer)>;

  // `maxSequence` is the number of tokens that a sequence may have; 0: as many as the model allows (see positions).
  GraphBuilder(mlir::MLIRContext &context, WeightSource &weights, Diagnostics &diagnostics, int64_t maxSequence);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder &) = delete;
  GraphBuilder &operator=(const GraphBuilder &) = delete;

  // The number of positions that the model was made for. `hard`: there are no others (a table of learned positions).
  // To be called before the first use of state.
  void positions(int64_t count, bool hard);

  // Inside a repeated block `name` is relative to the layer. `why` explains the shape in error messages.
  Weight weight(const std::string &name, const Shape &shape, const std::string &why = {});
  // [K, N] as [N, K].
  Weight transpose(Weight matrix);
  // Two weights of one shape that may be one and the same tensor, as an embedding and a vocabulary projection.
  // `wanted` is what the configuration says; see WeightSource::tied.
  std::pair<Weight, Weight> tiedWeights(const std::string &first, const std::string &second, const Shape &shape,
                                        bool wanted);

  // Applies `body` for layers 0 to count-1. Weights and state named in it belong to the layer:
  // "<prefix>.<layer>.<name>". Layers whose bodies come out equal share one function, which is called once per layer;
  // what the body uses from outside becomes an argument.
  Tensor repeat(const std::string &prefix, int64_t count, Tensor x, const Body &body);

  // Rows of a table [V, D], by token id and by position in the sequence (+ offset): [tokens, D].
  Tensor embedding(Weight table);
  Tensor position(Weight table, int64_t offset = 0);

  // x * transpose(matrix) + bias: [tokens, K], [N, K], [N] -> [tokens, N].
  Tensor linear(Tensor x, Weight matrix, Weight bias = {});
  // Scale and bias have width/groups elements; each of `groups` groups of neighbouring features is normalized by
  // itself.
  Tensor layerNorm(Tensor x, Weight scale, Weight bias, double epsilon);
  Tensor rmsNorm(Tensor x, Weight scale, double epsilon, int64_t groups = 1);
  Tensor rope(Tensor x, int64_t heads, const Rope &rope);
  Tensor activation(Tensor x, Activation kind);
  Tensor add(Tensor x, Tensor y);
  Tensor mul(Tensor x, Tensor y);
  Tensor scale(Tensor x, double factor);
  // Features [offset, offset + width).
  Tensor slice(Tensor x, int64_t offset, int64_t width);

  // Queries [tokens, heads*d], keys and values [tokens, keyValueHeads*d] -> [tokens, heads*d].
  Tensor attention(Tensor queries, Tensor keys, Tensor values, const Attention &attention);
  // The same over the past of the sequences as well, which is kept in the state `name`.
  Tensor cachedAttention(Tensor queries, Tensor keys, Tensor values, const Attention &attention,
                         const std::string &name = "cache");
  // The pieces of cachedAttention. Inside a repeated block `name` is relative to the layer.
  State state(const std::string &name, int64_t heads, int64_t width);
  void append(State state, Tensor keys, Tensor values);
  std::pair<Tensor, Tensor> read(State state);

  // The rows that the caller of a step asked for (the last token of every sequence).
  Tensor select(Tensor x);
  // The result of the model.
  void output(Tensor logits);

  // The module, verified; null if there was an error. The builder is used up.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

private:
  class Graph;
  std::unique_ptr<Graph> graph;
};

}  // namespace talc
