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
// An encoder-decoder begins with its encoder, which leaves keys and values of the source in states:
//
//   g.encoder([&] {
//     Tensor memory = ...;
//     g.each("layers", 12, [&](int64_t) { g.append(g.sourceState("source", heads, d), g.linear(memory, ...), ...); });
//   });
//   ... g.crossAttention(queries, g.sourceState("source", heads, d), {heads, heads, scale}) ...
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

// Which keys a query sees: all of its sequence; those at or before it; those, and in the caller's prefix all.
enum class Mask { Full, Causal, Prefix };

// softmax(scale * Q K^T + bias + mask) V. Query head h uses key-value head h / (heads / keyValueHeads).
struct Attention {
  int64_t heads;
  int64_t keyValueHeads;
  double scale;
  Mask mask = Mask::Causal;
  int64_t window = 0;      // > 0: only keys at a distance < window are seen
  Weight bias = {};        // by distance: see relativeBias, alibi
  double cap = 0;          // > 0: cap * tanh(score / cap) takes the place of the scaled score
  bool absolute = false;   // the bias is by the key's position
  Tensor rowBias = {};     // [tokens, heads*D], a bias by distance of each row's own; see talc.attention
  bool zeroStart = false;  // with a window and such a bias: keys before a text's first are there, and zero
  Weight sinks = {};       // [heads], one more score in the softmax of each head, of a key without a value
};

// Which features of a row a route keeps. Biases and groups decide what is chosen, and change no value.
struct Routing {
  int64_t count;
  bool normalized;
  Weight bias = {};                                   // is added where features are compared
  int64_t groups = 1, keptGroups = 1, groupBest = 1;  // groups are compared by the sum of so many of their largest
};

// Gated feed-forward layers of which every row passes `chosen`: gate and up [E*F, K], down [E*N, F].
struct Experts {
  Weight gate, up, down;
  Activation kind;
  int64_t chosen;
  Weight gateBias = {}, upBias = {}, downBias = {};  // all or none: [E*F], [E*F], [E*N]
  double clamp = 0;                                  // > 0: see talc.experts
};

// What earlier segments left, mixed with attention inside the open one by a gate for each head: see talc.memory.
struct SegmentMemory {
  int64_t heads;
  int64_t keyValueHeads;
  Weight gates;             // [heads]
  bool delta = false;       // keys leave what their values differ by from what is there
  bool localFirst = false;  // the first segment has no gate
};

// What a result of the model is: talc.outputs in dialects/talc/TalcDialect.h.
enum class Output { Logits, Hidden, Classes, TokenClasses, Head, Tail };

class GraphBuilder {
public:
  using Shape = std::vector<int64_t>;
  // One layer of a repeated block: its input and its number.
  using Body = std::function<Tensor(Tensor x, int64_t layer)>;
  // The same of a block that leaves its results in states.
  using Effect = std::function<void(int64_t layer)>;

  // `maxSequence` is the number of tokens that a sequence may have; 0: as many as the model allows (see positions).
  GraphBuilder(mlir::MLIRContext &context, WeightSource &weights, Diagnostics &diagnostics, int64_t maxSequence);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder &) = delete;
  GraphBuilder &operator=(const GraphBuilder &) = delete;

  // The number of positions that the model was made for. `hard`: there are no others (a table of learned positions).
  // `usual`: the length of sequences where nobody asks for one; 0: all positions. `endless`: every layer sees a window,
  // and positions count only by their distance, so that sequences may have any length. To be called before the first
  // use of state, sinusoids or a relative bias.
  void positions(int64_t count, bool hard, int64_t usual = 0, bool endless = false);
  // Sequences go on without end: a layer sees its window, or else as many tokens as a sequence would have had room for,
  // of which the first `tokens` always stay (StreamingLLM, arXiv 2309.17453). To be called before positions.
  void keepFirst(int64_t tokens);
  // Decoders see the prefix of a sequence as a whole.
  void usePrefixes();

  // Texts have any number of tokens, in segments of so many, which is how far positions and states go. In place of
  // `positions`.
  void segments(int64_t tokens);

  // Inside a repeated block `name` is relative to the layer. `why` explains the shape in error messages.
  Weight weight(const std::string &name, const Shape &shape, const std::string &why = {});
  // A vector that files store as a matrix, row by row.
  Weight flatWeight(const std::string &name, const Shape &stored);
  // Matrices that files store one above the other, as one of all their rows.
  Weight stackedWeight(const std::string &name, const Shape &stored);
  // The first of several names of one weight that files store it under; the first of all if they have none.
  std::string storedName(const std::vector<std::string> &names) const;
  // Whether the source of weights has one of this name.
  bool has(const std::string &name) const;
  // [K, N] as [N, K].
  Weight transpose(Weight matrix);
  // Two weights of one shape that may be one and the same tensor, as an embedding and a vocabulary projection.
  // `wanted` is what the configuration says; see WeightSource::tied.
  std::pair<Weight, Weight> tiedWeights(const std::string &first, const std::string &second, const Shape &shape,
                                        bool isTied);

  int64_t rowCount(Weight weight) const;
  // Of every `period` rows those from `first` on, `count` of them: parts of a weight that files store as one.
  Weight rows(Weight weight, int64_t first, int64_t count, int64_t period);
  // Rows of heads of a width in which neighbours of the first `rotary` are turned together, as `rope` takes them.
  Weight halfSplit(Weight weight, int64_t width, int64_t rotary);
  Weight plus(Weight weight, double value);
  // A number as the type that a weight's file stores would have it.
  double asStored(Weight weight, double value) const;
  // One after the other along the first dimension.
  Weight concat(const std::string &name, const std::vector<Weight> &parts);

  // Sinusoidal positions of every position a sequence may have: [positions + first, width], for `position` with this
  // offset. The row before the first is zero.
  Weight sinusoids(int64_t width, Sinusoids layout, int64_t first = 0);
  // The bias of attention by distance, from a table of buckets [buckets, heads] (T5). One weight serves all layers.
  Weight relativeBias(Weight table, bool bidirectional, int64_t maxDistance);
  // What stands for each of `distances` distances where queries are compared, of a projection [heads*d, E]: [heads*D,
  // d], furthest first, times `scale`. Distances beyond count as the furthest. And the bias that makes of products with
  // queries plus `from` those with queries plus `to`, [heads*d]: [heads*D]. See #talc.relative_keys.
  Weight relativeKeys(Weight projection, int64_t heads, int64_t distances, double scale);
  Weight relativeKeys(Weight projection, Weight from, Weight to, int64_t heads, int64_t distances, double scale);
  // The bias by distance that falls with a slope for each head (arXiv 2108.12409). Not to be called in a layer. With
  // `factor`: rounded to bf16, times it, and by the key's position (#talc.alibi).
  Weight alibi(int64_t heads, double factor = 0);

  // What `body` writes is the model's encoder: a function of its own without results, evaluated once per source. It
  // leaves its results in source states. Activations do not cross between it and the rest of the model, the decoder.
  void encoder(const std::function<void()> &body);

  // Applies `body` for layers 0 to count-1. Weights and state named in it belong to the layer:
  // "<prefix>.<layer>.<name>". Layers whose bodies come out equal share one function, which is called once per layer;
  // what the body uses from outside becomes an argument.
  Tensor repeat(const std::string &prefix, int64_t count, Tensor x, const Body &body);
  void each(const std::string &prefix, int64_t count, const Effect &body);

  // Rows of a table [V, D], by token id, by position in the sequence (+ offset), by token type: [tokens, D].
  Tensor embedding(Weight table);
  // The same of a table of the ids from `first` on; zero for other ids.
  Tensor embedding(Weight table, int64_t first);
  Tensor position(Weight table, int64_t offset = 0);
  // The same in encoders whose tokens `padding` take no position, but the row before the first.
  Tensor position(Weight table, int64_t offset, int64_t padding);
  Tensor tokenType(Weight table);

  // x * transpose(matrix) + bias: [tokens, K], [N, K], [N] -> [tokens, N].
  Tensor linear(Tensor x, Weight matrix, Weight bias = {});
  // The same with the weights `name`.weight and `name`.bias.
  Tensor linear(Tensor x, const std::string &name, int64_t outputs);
  // Groups of neighbouring outputs are of the first K features of groups: [tokens, G*S], [N, K] -> [tokens, N].
  Tensor groupedLinear(Tensor x, Weight matrix, int64_t groups, Weight bias = {});
  // Each of `groups` groups of neighbouring features is normalized by itself; scale and bias have width/groups
  // elements, or width.
  Tensor layerNorm(Tensor x, Weight scale, Weight bias, double epsilon, int64_t groups = 1);
  Tensor layerNorm(Tensor x, const std::string &name, double epsilon);
  Tensor rmsNorm(Tensor x, Weight scale, double epsilon, int64_t groups = 1);
  Tensor rope(Tensor x, int64_t heads, const Rope &rope);
  Tensor activation(Tensor x, Activation kind);
  // Over the features of every row.
  Tensor softmax(Tensor x);
  // Of the scores of words, then of clusters of words, which begin at `tails`: the logarithms of the words'
  // probabilities. See talc.log_softmax.
  Tensor logSoftmax(Tensor x, const std::vector<int64_t> &tails = {});
  Tensor add(Tensor x, Tensor y);
  Tensor mul(Tensor x, Tensor y);
  Tensor scale(Tensor x, double factor);
  // min(max(x, -bound), bound).
  Tensor clamp(Tensor x, double bound);
  // The `count` largest features of every row; the others become zero. None may be negative.
  Tensor route(Tensor x, int64_t count, bool normalized);
  Tensor route(Tensor x, const Routing &routing);
  // What the experts with a route that is not zero, at most `chosen` of a row, make of x: gated feed-forward layers,
  // each times its route. Experts lie one after the other in `gate` and `up` [E*F, K] and in `down` [E*N, F].
  Tensor experts(Tensor x, Tensor routes, Weight gate, Weight up, Weight down, Activation kind, int64_t chosen);
  Tensor experts(Tensor x, Tensor routes, const Experts &experts);
  // The features of each head of x, then those of y: [tokens, heads*a], [tokens, heads*b] -> [tokens, heads*(a+b)].
  Tensor join(Tensor x, Tensor y, int64_t heads);
  // Features [offset, offset + width).
  Tensor slice(Tensor x, int64_t offset, int64_t width);

  // Queries [tokens, heads*d], keys and values [tokens, keyValueHeads*d] -> [tokens, heads*d].
  Tensor attention(Tensor queries, Tensor keys, Tensor values, const Attention &attention);
  // The same over the past of the sequences as well, which is kept in the state `name`.
  Tensor cachedAttention(Tensor queries, Tensor keys, Tensor values, const Attention &attention,
                         const std::string &name = "cache");
  // The result of attention inside a segment together with what the segments before it left in the state `name`.
  // Queries and keys are those before they are turned.
  Tensor segmentMemory(Tensor local, Tensor queries, Tensor keys, Tensor values, const SegmentMemory &memory,
                       const std::string &name = "memory");
  // All queries see all keys that the encoder left in `source`.
  Tensor crossAttention(Tensor queries, State source, const Attention &attention);
  // The pieces of these. Inside a repeated block `name` is relative to the layer.
  // With a window the state of a sequence holds no more than attention with such a window sees.
  State state(const std::string &name, int64_t heads, int64_t width, int64_t window = 0);
  State sourceState(const std::string &name, int64_t heads, int64_t width);
  void append(State state, Tensor keys, Tensor values);
  std::pair<Tensor, Tensor> read(State state);

  // The rows that the caller of a step asked for (the last token of every sequence), for the model's result number
  // `output`.
  Tensor select(Tensor x, int64_t output = 0);
  // The next result of the model, of which there are one or two; behind them parts of logits, a head and its tails.
  void output(Tensor rows, Output kind = Output::Logits);
  // How many parts of logits there may be behind one result.
  static constexpr size_t maxLogitParts = 7;
  // Names of the classes, in the order of a result's features.
  void labels(const std::vector<std::string> &names);

  // The module, verified; null if there was an error. The builder is used up.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

private:
  class Graph;
  std::unique_ptr<Graph> graph;
};

}  // namespace talc
