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
// An encoder-decoder begins with its encoder, which leaves keys and values of the source in KV caches:
//
//   g.encoder([&] {
//     Tensor memory = ...;
//     g.each("layers", 12, [&](int64_t) { g.kvAppend(g.sourceKvCache("source", heads, d), g.linear(memory, ...), ...);
//     });
//   });
//   ... g.crossAttention(queries, g.sourceKvCache("source", heads, d), {heads, heads, scale}) ...
//
// Activations are [tokens, width]; the tokens of all sequences of a step are concatenated. Token ids and the borders of
// sequences are implicit. An error is recorded in the Diagnostics, and from then on every operation yields an empty
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

// Activations [tokens, width] of f32. Values that a layer makes can be used in that layer only.
class Tensor {
public:
  explicit operator bool() const { return value != nullptr; }
  int64_t width() const { return features; }

private:
  friend class GraphBuilder;
  const void *value = nullptr;
  int64_t features = 0;
  int64_t scope = 0;  // the layer that makes it; 0: none
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
class KvCache {
public:
  explicit operator bool() const { return index >= 0; }

private:
  friend class GraphBuilder;
  int64_t index = -1;
};

// The mask range of a query: all keys of its sequence; those at or before it; those, and all of the caller's prefix.
enum class Mask { Full, Causal, Prefix };

// softmax(scale * Q K^T + bias + mask) V. Query head h uses key-value head h / (heads / keyValueHeads).
struct Attention {
  int64_t heads;
  int64_t keyValueHeads;
  double scale;
  Mask mask = Mask::Causal;
  int64_t window = 0;      // > 0: only keys at a distance < window are visible
  Weight bias = {};        // by distance: see relativeBias, alibi
  double cap = 0;          // > 0: cap * tanh(score / cap) replaces the scaled score
  bool absolute = false;   // the bias is by the key's position
  Tensor rowBias = {};     // [tokens, heads*D], a bias by distance for each token; see talc.attention
  bool zeroStart = false;  // with a window and such a bias: keys before the first token exist, and are zero
  Weight sinks = {};       // [heads], attention sinks: a score without a value in the softmax of each head
};

// The MoE router. Biases and groups decide which experts are selected, and change no routing weight.
struct Routing {
  int64_t count;
  bool normalized;
  Weight bias = {};                                   // added to the scores for the selection
  int64_t groups = 1, topkGroups = 1, groupBest = 1;  // groups are compared by the sum of their `groupBest` best scores
};

// Gated feed-forward layers, `chosen` of which process each token: gate and up [E*F, K], down [E*N, F].
struct Experts {
  Weight gate, up, down;
  Activation kind;
  int64_t chosen;
  Weight gateBias = {}, upBias = {}, downBias = {};  // all of them or none: [E*F], [E*F], [E*N]
  double clamp = 0;                                  // > 0: see talc.experts
};

// The compressive memory of earlier segments, mixed with attention inside of the open one by a gate for each head: see
// talc.memory.
struct SegmentMemory {
  int64_t heads;
  int64_t keyValueHeads;
  Weight gates;             // [heads]
  bool delta = false;       // keys add the difference between their values and what the memory returns for them
  bool localFirst = false;  // the first segment has no gate
};

// A convolution of every feature over the last tokens of its sequence: see talc.causal_conv.
struct CausalConv {
  Weight weight;  // [tokens, width]; the last row is that of the token itself
  Weight bias = {};
  bool hasSilu = false;  // the activation of the result
};

// A matrix for each head that tokens decay, add to and read: see talc.recurrence.
struct Recurrence {
  int64_t heads, keyHeads;
  bool isDelta = false;
  Tensor decay;      // [tokens, heads]
  Weight rates;      // [heads]
  Tensor factors;    // [tokens, heads]
  Weight skip = {};  // [heads]
};

// Numbers of each feature that tokens decay, add to and read: see talc.selective_scan.
struct SelectiveScan {
  Tensor steps;          // [tokens, width]
  Tensor input, output;  // [tokens, groups*numbers]
  Weight rates;          // [numbers, width]
  Weight skip;           // [width]
  int64_t groups = 1;
};

// The kind of a model's result: talc.outputs in dialects/talc/TalcDialect.h.
enum class Output { Logits, Hidden, Classes, TokenClasses, Head, Tail };

// The token whose row of Output::Classes is that of a text: the last one that is not this token, which pads, or the
// last one that is.
enum class ClassPlace { LastExcept = 1, LastOf };

class GraphBuilder {
public:
  using Shape = std::vector<int64_t>;
  // One layer of a repeated block: its input and its number.
  using Body = std::function<Tensor(Tensor x, int64_t layer)>;
  // Does the same for a block that leaves its results in KV caches.
  using Effect = std::function<void(int64_t layer)>;

  // `maxSequence` is the number of tokens that a sequence may have; 0: as many as the model allows (see positions).
  GraphBuilder(mlir::MLIRContext &context, WeightSource &weights, Diagnostics &diagnostics, int64_t maxSequence);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder &) = delete;
  GraphBuilder &operator=(const GraphBuilder &) = delete;

  // Sets the number of positions that the model was trained for. `hard`: there are no others (a table of learned
  // positions). `defaultLength`: the length of sequences if the user requests none; 0: all positions. `endless`: every
  // layer has a window, and only distances matter, so that sequences may have any length. Has to be called before the
  // first use of a KV cache, sinusoids or a relative bias.
  void positions(int64_t count, bool hard, int64_t defaultLength = 0, bool endless = false);
  // Makes sequences endless: a layer sees its window, or else as many tokens as a sequence may have, including the
  // first `tokens` as sink tokens (StreamingLLM, arXiv 2309.17453). Has to be called before positions.
  void useSinkTokens(int64_t tokens);
  // Tokens of the prefix of a decoder's sequence see each other.
  void usePrefixMasks();

  // The model reads whole texts: a decoder keeps no keys and values. Without a head of another kind it returns the
  // hidden states before its LM head. Families that can be used so ask for it.
  void useAsEmbedder();
  bool isEmbedder() const;

  // Lets sequences have any length, whatever the user requests: no layer holds tokens, or knows their positions.
  // Replaces `positions`.
  void anyLength();

  // Cuts texts of any length into segments of this many tokens, which bound positions and KV caches. Replaces
  // `positions`.
  void segments(int64_t tokens);

  // Inside of a repeated block `name` is relative to the layer. `why` explains the shape in error messages.
  Weight weight(const std::string &name, const Shape &shape, const std::string &why = {});
  // A vector that files store as a matrix, row by row.
  Weight flatWeight(const std::string &name, const Shape &stored);
  // A weight whose file has the same elements, in the same order, in another shape.
  Weight reshaped(const std::string &name, const Shape &shape, const Shape &stored);
  // Matrices that files store in one tensor, as one matrix with all their rows.
  Weight stackedWeight(const std::string &name, const Shape &stored);
  // The first of several names under which files store a weight; the first of all if none of them exists. The others
  // are copies if they are tied, and without a use if not.
  std::string storedName(const std::vector<std::string> &names, bool areTied = true) const;
  // Whether the source of weights has one of this name.
  bool has(const std::string &name) const;
  // [K, N] as [N, K].
  Weight transpose(Weight matrix);
  // Two weights of one shape that may be the same tensor, as an embedding and an LM head. `isTied`: whether they are
  // according to the configuration; see WeightSource::tied.
  std::pair<Weight, Weight> tiedWeights(const std::string &first, const std::string &second, const Shape &shape,
                                        bool isTied);

  int64_t rowCount(Weight weight) const;
  // `count` rows from `first` on in every `period` rows: a part of a fused weight.
  Weight rows(Weight weight, int64_t first, int64_t count, int64_t period);
  // Reorders the rows of heads whose files pair neighbors of the first `rotary` rows, for the half-split pairs of
  // `rope`.
  Weight halfSplit(Weight weight, int64_t width, int64_t rotary);
  // Swaps the halves of the rows of heads: pairs turn by negative angles as their swapped features do by positive ones.
  Weight swapHalves(Weight weight, int64_t width);
  Weight plus(Weight weight, double value);
  // A vector of ones, for norms without weights.
  Weight ones(int64_t count);
  // A weight with one value everywhere.
  Weight filled(const Shape &shape, double value);
  // A number rounded to the type that the file of a weight has.
  double asStored(Weight weight, double value) const;
  // Concatenates weights along the first dimension.
  Weight concat(const std::string &name, const std::vector<Weight> &parts);

  // Sinusoidal embeddings of all positions that a sequence may have: [positions + first, width], for `position` with
  // this offset. The row before the first is zero.
  Weight sinusoids(int64_t width, Sinusoids layout, int64_t first = 0);
  // A number for every position, [positions, 1]: value(floor((position + shift) / period)). None if that is value(0)
  // everywhere.
  Weight steps(int64_t period, int64_t shift, const std::function<double(int64_t step)> &value);
  // The bias of attention by distance, from a table of buckets [buckets, heads] (T5). One weight serves all layers.
  Weight relativeBias(Weight table, bool bidirectional, int64_t maxDistance);
  // The keys of `distances` distances, from a projection [heads*d, E]: [heads*D, d], furthest first, times `scale`.
  // Larger distances count as the furthest. The other overload yields the bias [heads*D] that turns scores of queries
  // plus `from` into scores of queries plus `to`, [heads*d]. See #talc.relative_keys.
  Weight relativeKeys(Weight projection, int64_t heads, int64_t distances, double scale);
  Weight relativeKeys(Weight projection, Weight from, Weight to, int64_t heads, int64_t distances, double scale);
  // ALiBi: the bias that falls with the distance, with a slope for each head (arXiv 2108.12409). Must not be called in
  // a layer. With `factor`: by the key's position, rounded to bf16, times the factor (#talc.alibi).
  Weight alibi(int64_t heads, double factor = 0);

  // Writes the model's encoder with `body`: a function of its own without results, evaluated once per source. It leaves
  // its results in source KV caches. Activations do not cross between it and the rest of the model, the decoder.
  void encoder(const std::function<void()> &body);

  // Applies `body` for layers 0 to count-1. Weights and KV caches named in it belong to the layer:
  // "<prefix>.<layer>.<name>". Layers with equal bodies share one function, which is called once per layer; values from
  // outside of the body become its arguments.
  Tensor repeat(const std::string &prefix, int64_t count, Tensor x, const Body &body);
  void each(const std::string &prefix, int64_t count, const Effect &body);

  // Looks up rows of a table [V, D] by token id, by position in the sequence (+ offset), or by token type: [tokens, D].
  Tensor embedding(Weight table);
  // Does the same for a table of the ids from `first` on; yields zero for other ids.
  Tensor embedding(Weight table, int64_t first);
  Tensor position(Weight table, int64_t offset = 0);
  // Does the same in encoders whose padding tokens have no position: they take the row before the first.
  Tensor position(Weight table, int64_t offset, int64_t padding);
  Tensor tokenType(Weight table);

  // x * transpose(matrix) + bias: [tokens, K], [N, K], [N] -> [tokens, N].
  Tensor linear(Tensor x, Weight matrix, Weight bias = {});
  // Does the same with the weights `name`.weight and `name`.bias.
  Tensor linear(Tensor x, const std::string &name, int64_t outputs);
  // A linear per group: a group of outputs depends on the first K features of its group: [tokens, G*S], [N, K] ->
  // [tokens, N].
  Tensor groupedLinear(Tensor x, Weight matrix, int64_t groups, Weight bias = {});
  // Normalizes each of `groups` groups of neighboring features by itself; scale and bias have width/groups elements, or
  // width.
  Tensor layerNorm(Tensor x, Weight scale, Weight bias, double epsilon, int64_t groups = 1);
  Tensor layerNorm(Tensor x, const std::string &name, double epsilon);
  Tensor rmsNorm(Tensor x, Weight scale, double epsilon, int64_t groups = 1);
  // factor * x / sqrt(sum of x^2 + epsilon) of each group.
  Tensor l2Norm(Tensor x, double epsilon, int64_t groups, double factor = 1);
  Tensor rope(Tensor x, int64_t heads, const Rope &rope);
  Tensor activation(Tensor x, Activation kind);
  // Over the features of every token.
  Tensor softmax(Tensor x);
  // The logarithms of the probabilities of words, from scores of words and of clusters of words, which begin at
  // `tails`. See talc.log_softmax.
  Tensor logSoftmax(Tensor x, const std::vector<int64_t> &tails = {});
  Tensor add(Tensor x, Tensor y);
  Tensor mul(Tensor x, Tensor y);
  Tensor scale(Tensor x, double factor);
  // min(max(x, -bound), bound).
  Tensor clamp(Tensor x, double bound);
  // Keeps the `count` largest features of every token; the others become zero. None may be negative.
  Tensor route(Tensor x, int64_t count, bool normalized);
  Tensor route(Tensor x, const Routing &routing);
  // Applies the experts whose routing weights are not zero, at most `chosen` per token: gated feed-forward layers, each
  // times its routing weight. Experts are concatenated in `gate` and `up` [E*F, K] and in `down` [E*N, F].
  Tensor experts(Tensor x, Tensor routes, Weight gate, Weight up, Weight down, Activation kind, int64_t chosen);
  Tensor experts(Tensor x, Tensor routes, const Experts &experts);
  // The features of each head of x, then those of y: [tokens, heads*a], [tokens, heads*b] -> [tokens, heads*(a+b)].
  Tensor join(Tensor x, Tensor y, int64_t heads);
  // Features [offset, offset + width).
  Tensor slice(Tensor x, int64_t offset, int64_t width);

  // Queries [tokens, heads*d], keys and values [tokens, keyValueHeads*d] -> [tokens, heads*d].
  Tensor attention(Tensor queries, Tensor keys, Tensor values, const Attention &attention);
  // The mean of all tokens of a text, for each of its tokens. `heads` divides the features, as in attention.
  Tensor mean(Tensor x, int64_t heads);
  // The features of the token before, zero for the first one of a text.
  Tensor previous(Tensor x, int64_t heads);
  // Attends to past tokens as well, whose keys and values are in the KV cache `name`.
  Tensor cachedAttention(Tensor queries, Tensor keys, Tensor values, const Attention &attention,
                         const std::string &name = "cache");
  // Mixes the result of attention inside of a segment with the compressive memory `name` of the segments before.
  // Queries and keys are those before rope.
  Tensor segmentMemory(Tensor local, Tensor queries, Tensor keys, Tensor values, const SegmentMemory &memory,
                       const std::string &name = "memory");
  // Keeps the last tokens of a sequence in the state `name`.
  Tensor causalConv(Tensor x, const CausalConv &conv, const std::string &name = "conv_state");
  // Queries and keys [tokens, keyHeads*dk], values [tokens, heads*dv] -> [tokens, heads*dv].
  Tensor recurrence(Tensor queries, Tensor keys, Tensor values, const Recurrence &recurrence,
                    const std::string &name = "state");
  Tensor selectiveScan(Tensor x, const SelectiveScan &scan, const std::string &name = "state");
  // All queries see all keys that the encoder wrote to `source`.
  Tensor crossAttention(Tensor queries, KvCache source, const Attention &attention);
  // The parts of cachedAttention and crossAttention. Inside of a repeated block `name` is relative to the layer. With a
  // window the KV cache holds only the keys that attention with this window sees.
  KvCache kvCache(const std::string &name, int64_t heads, int64_t width, int64_t window = 0);
  KvCache sourceKvCache(const std::string &name, int64_t heads, int64_t width);
  void kvAppend(KvCache cache, Tensor keys, Tensor values);
  std::pair<Tensor, Tensor> kvRead(KvCache cache);

  // Selects the tokens that the caller of a step requests (by default the last of every sequence) for the result
  // `output` of the model.
  Tensor select(Tensor x, int64_t output = 0);
  // Adds a result to the model. There are one or two, and after them parts of logits: a head and its tails.
  void output(Tensor rows, Output kind = Output::Logits);
  // The maximum number of parts of logits after one result.
  static constexpr size_t maxLogitParts = 7;
  // Names the classes, in the order of a result's features.
  void labels(const std::vector<std::string> &names);
  // Classes of texts are those of another token than the first. `token`: -1: none.
  void classPlace(ClassPlace place, int64_t token);

  // Returns the verified module, or null after an error. The builder must not be used afterwards.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

private:
  class Graph;
  std::unique_ptr<Graph> graph;
};

}  // namespace talc
