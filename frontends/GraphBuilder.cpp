// SPDX-License-Identifier: Apache-2.0
// The operations of the model definition vocabulary: each writes one op of the talc dialect, or a few.
#include "frontends/GraphBuilder.h"

#include "dialects/Invariant.h"
#include "dialects/talc/LogitParts.h"
#include "frontends/Graph.h"

#include <fmt/format.h>

#include <algorithm>

using namespace mlir;

namespace talc {

GraphBuilder::GraphBuilder(MLIRContext &context, WeightSource &weights, Diagnostics &diagnostics, int64_t maxSequence)
    : graph(std::make_unique<Graph>(context, weights, diagnostics, maxSequence)) {}

GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::positions(int64_t count, bool hard, int64_t defaultLength, bool endless) {
  constexpr int64_t maxTokens = int64_t(1) << 30;
  count = std::min(count, maxTokens);
  graph->longestSequence = hard ? count : maxTokens;
  bool streams = graph->sinks > 0;
  if (graph->maxSequence <= 0)
    graph->maxSequence = endless && !streams ? maxTokens : defaultLength > 0 ? std::min(defaultLength, count) : count;
  if (streams)
    return graph->stream(hard);
  if (graph->maxSequence <= count || endless)
    return;
  std::string text = fmt::format("sequences of {} tokens were asked for, but the model was made for {} positions",
                                 graph->maxSequence, count);
  if (hard)
    graph->diagnostics.error(ImportError::ConfigValue, "config.json: " + text);
  else
    graph->diagnostics.warning(text + "; expect poor results beyond them");
}

void GraphBuilder::segments(int64_t tokens) {
  graph->divide(tokens);
}

void GraphBuilder::useSinkTokens(int64_t tokens) {
  graph->sinks = tokens;
}

void GraphBuilder::usePrefixMasks() {
  graph->prefixes = true;
}

//===--- structure ----------------------------------------------------------------------------------------------===//

Tensor GraphBuilder::repeat(const std::string &prefix, int64_t count, Tensor x, const Body &body) {
  for (int64_t layer = 0; layer < count && graph->ready(x); ++layer)
    x = graph->layer(prefix, layer, x, body);
  return x;
}

void GraphBuilder::each(const std::string &prefix, int64_t count, const Effect &body) {
  auto block = [&](Tensor, int64_t layer) {
    body(layer);
    return Tensor();
  };
  for (int64_t layer = 0; layer < count && !graph->failed(); ++layer)
    graph->layer(prefix, layer, {}, block);
}

void GraphBuilder::encoder(const std::function<void()> &body) {
  graph->writeEncoder(body);
}

Tensor GraphBuilder::select(Tensor x, int64_t output) {
  return graph->ready(x) ? graph->make<SelectOp>(graph->location(), x.width(), graph->value(x), graph->sequences(),
                                                 static_cast<uint64_t>(output))
                         : Tensor();
}

static llvm::StringRef outputName(Output kind) {
  switch (kind) {
  case Output::Logits:
    return logitsOutput;
  case Output::Hidden:
    return hiddenOutput;
  case Output::Classes:
    return classesOutput;
  case Output::TokenClasses:
    return tokenClassesOutput;
  case Output::Head:
    return headOutput;
  case Output::Tail:
    return tailOutput;
  }
  endByDefect("the output is known");
}

void GraphBuilder::output(Tensor rows, Output kind) {
  graph->addResult(rows, outputName(kind));
}

void GraphBuilder::labels(const std::vector<std::string> &names) {
  if (names.empty())
    return;
  llvm::SmallVector<llvm::StringRef> texts(names.begin(), names.end());
  (*graph->module)->setAttr(labelsAttr, graph->builder.getStrArrayAttr(texts));
}

OwningOpRef<ModuleOp> GraphBuilder::finish() {
  graph->finish();
  return graph->failed() ? nullptr : std::move(graph->module);
}

//===--- tables and tokens
//---------------------------------------------------------------------------------------------------===//

Tensor GraphBuilder::embedding(Weight table) {
  if (!graph->readyWeight(table, 2))
    return {};
  return graph->make<EmbeddingOp>(graph->location(table), graph->shape(table)[1], graph->ids(), graph->value(table),
                                  IntegerAttr());
}

Tensor GraphBuilder::embedding(Weight table, int64_t first) {
  if (!graph->readyWeight(table, 2))
    return {};
  return graph->make<EmbeddingOp>(graph->location(table), graph->shape(table)[1], graph->ids(), graph->value(table),
                                  graph->builder.getI64IntegerAttr(first));
}

Tensor GraphBuilder::position(Weight table, int64_t offset) {
  if (!graph->readyWeight(table, 2))
    return {};
  return graph->make<PositionOp>(graph->location(table), graph->shape(table)[1], graph->sequences(),
                                 graph->value(table), Value(), static_cast<uint64_t>(offset), IntegerAttr());
}

Tensor GraphBuilder::position(Weight table, int64_t offset, int64_t padding) {
  if (!graph->readyWeight(table, 2))
    return {};
  return graph->make<PositionOp>(graph->location(table), graph->shape(table)[1], graph->sequences(),
                                 graph->value(table), graph->ids(), static_cast<uint64_t>(offset),
                                 graph->builder.getI64IntegerAttr(padding));
}

Tensor GraphBuilder::tokenType(Weight table) {
  if (!graph->readyWeight(table, 2))
    return {};
  return graph->make<TokenTypeOp>(graph->location(table), graph->shape(table)[1], graph->sequences(),
                                  graph->value(table));
}

//===--- layers -------------------------------------------------------------------------------------------------===//

Tensor GraphBuilder::linear(Tensor x, Weight matrix, Weight bias) {
  if (!graph->ready(x) || !graph->readyWeight(matrix, 2) || (bias && !graph->readyWeight(bias, 1)))
    return {};
  return graph->make<LinearOp>(graph->location(matrix), graph->shape(matrix)[0], graph->value(x), graph->value(matrix),
                               graph->value(bias), /*groups=*/uint64_t(1));
}

Tensor GraphBuilder::groupedLinear(Tensor x, Weight matrix, int64_t groups, Weight bias) {
  if (!graph->ready(x) || !graph->readyWeight(matrix, 2) || (bias && !graph->readyWeight(bias, 1)))
    return {};
  // One group is a plain linear layer, which sums all features.
  if (int64_t summed = graph->shape(matrix)[1]; groups == 1 && summed < x.width())
    x = slice(x, 0, summed);
  return graph->make<LinearOp>(graph->location(matrix), graph->shape(matrix)[0], graph->value(x), graph->value(matrix),
                               graph->value(bias), static_cast<uint64_t>(groups));
}

Tensor GraphBuilder::linear(Tensor x, const std::string &name, int64_t outputs) {
  Weight matrix = weight(name + ".weight", {outputs, x.width()});
  return linear(x, matrix, weight(name + ".bias", {outputs}));
}

Tensor GraphBuilder::layerNorm(Tensor x, Weight scale, Weight bias, double epsilon, int64_t groups) {
  if (!graph->ready(x) || !graph->readyWeight(scale, 1) || (bias && !graph->readyWeight(bias, 1)))
    return {};
  return graph->make<NormOp>(graph->location(scale), x.width(), NormKind::layer, graph->value(x), graph->value(scale),
                             graph->value(bias), llvm::APFloat(epsilon), static_cast<uint64_t>(groups));
}

Tensor GraphBuilder::layerNorm(Tensor x, const std::string &name, double epsilon) {
  Weight scale = weight(name + ".weight", {x.width()});
  return layerNorm(x, scale, weight(name + ".bias", {x.width()}), epsilon);
}

Tensor GraphBuilder::rmsNorm(Tensor x, Weight scale, double epsilon, int64_t groups) {
  if (!graph->ready(x) || !graph->readyWeight(scale, 1))
    return {};
  return graph->make<NormOp>(graph->location(scale), x.width(), NormKind::rms, graph->value(x), graph->value(scale),
                             Value(), llvm::APFloat(epsilon), static_cast<uint64_t>(groups));
}

// One list of factors for all texts: cached keys were rotated by it, and must not depend on later tokens.
static const std::vector<double> &factorsFor(const LongScaling &scaling, int64_t longest, Diagnostics &diagnostics) {
  if (longest <= scaling.original)
    return scaling.shortFactors;
  if (scaling.longFactors != scaling.shortFactors)
    diagnostics.warning(
        fmt::format("sequences of {} tokens are more than the model's original context of {}: all texts "
                    "take the long factors of longrope, short ones too; --max-seq={} takes the short factors",
                    longest, scaling.original, scaling.original));
  return scaling.longFactors;
}

// A kept key cannot be turned anew when the text grows, which another program does for texts given at once.
static void warnOfGrowth(const DynamicScaling &scaling, int64_t longest, Diagnostics &diagnostics) {
  if (longest > scaling.original)
    diagnostics.warning(
        fmt::format("sequences of {} tokens are more than the model's original context of {}: beyond it, dynamic "
                    "scaling turns every "
                    "token by the length of the text up to it, where transformers turns all tokens of a prompt by the "
                    "length of the "
                    "whole; logits differ from there on, and --max-seq={} keeps to where they are equal",
                    longest, scaling.original, scaling.original));
}

static Attribute scalingAttr(MLIRContext *context, const Rope &rope, int64_t longest, Diagnostics &diagnostics) {
  if (auto *linear = std::get_if<LinearScaling>(&rope.scaling))
    return LinearScalingAttr::get(context, llvm::APFloat(linear->factor));
  if (auto *llama3 = std::get_if<Llama3Scaling>(&rope.scaling))
    return Llama3ScalingAttr::get(context, llvm::APFloat(llama3->factor), llvm::APFloat(llama3->low),
                                  llvm::APFloat(llama3->high), llama3->original);
  if (auto *yarn = std::get_if<YarnScaling>(&rope.scaling))
    return YarnScalingAttr::get(context, llvm::APFloat(yarn->factor), llvm::APFloat(yarn->fast),
                                llvm::APFloat(yarn->slow), yarn->original, yarn->truncate,
                                llvm::APFloat(yarn->amplitude));
  if (auto *dynamic = std::get_if<DynamicScaling>(&rope.scaling)) {
    warnOfGrowth(*dynamic, longest, diagnostics);
    return DynamicScalingAttr::get(context, llvm::APFloat(dynamic->factor), dynamic->original);
  }
  if (auto *listed = std::get_if<LongScaling>(&rope.scaling)) {
    auto factors = DenseF64ArrayAttr::get(context, factorsFor(*listed, longest, diagnostics));
    return ListedScalingAttr::get(context, factors, llvm::APFloat(listed->amplitude));
  }
  return {};
}

Tensor GraphBuilder::rope(Tensor x, int64_t heads, const Rope &rope) {
  if (!graph->ready(x))
    return {};
  // In a text without end, positions are counted in the window.
  int64_t longest = graph->cacheTokens > 0 ? graph->cacheTokens : graph->maxSequence;
  return graph->make<RopeOp>(graph->location(), x.width(), graph->value(x), graph->sequences(), Value(),
                             static_cast<uint64_t>(heads), static_cast<uint64_t>(rope.rotary), llvm::APFloat(rope.base),
                             scalingAttr(graph->builder.getContext(), rope, longest, graph->diagnostics), /*last=*/0,
                             /*digits=*/0);
}

static ActivationKind activationKind(Activation kind) {
  switch (kind) {
  case Activation::Relu:
    return ActivationKind::relu;
  case Activation::Gelu:
    return ActivationKind::gelu;
  case Activation::GeluTanh:
    return ActivationKind::gelu_tanh;
  case Activation::Silu:
    return ActivationKind::silu;
  case Activation::Tanh:
    return ActivationKind::tanh;
  case Activation::Sigmoid:
    return ActivationKind::sigmoid;
  case Activation::QuickGelu:
    return ActivationKind::quick_gelu;
  case Activation::ReluSquared:
    return ActivationKind::relu_squared;
  case Activation::Softplus:
    return ActivationKind::softplus;
  }
  endByDefect("the activation is known");
}

Tensor GraphBuilder::activation(Tensor x, Activation kind) {
  if (!graph->ready(x))
    return {};
  return graph->make<ActivationOp>(graph->location(), x.width(), activationKind(kind), graph->value(x));
}

Tensor GraphBuilder::softmax(Tensor x) {
  return graph->ready(x) ? graph->make<SoftmaxOp>(graph->location(), x.width(), graph->value(x)) : Tensor();
}

Tensor GraphBuilder::logSoftmax(Tensor x, const std::vector<int64_t> &tails) {
  return graph->ready(x) ? graph->make<LogSoftmaxOp>(graph->location(), x.width() - static_cast<int64_t>(tails.size()),
                                                     graph->value(x), tails)
                         : Tensor();
}

Tensor GraphBuilder::add(Tensor x, Tensor y) {
  return graph->ready(x, y) ? graph->make<AddOp>(graph->location(), x.width(), graph->value(x), graph->value(y))
                            : Tensor();
}

Tensor GraphBuilder::mul(Tensor x, Tensor y) {
  return graph->ready(x, y) ? graph->make<MulOp>(graph->location(), x.width(), graph->value(x), graph->value(y))
                            : Tensor();
}

Tensor GraphBuilder::scale(Tensor x, double factor) {
  return graph->ready(x) ? graph->make<ScaleOp>(graph->location(), x.width(), graph->value(x), llvm::APFloat(factor))
                         : Tensor();
}

Tensor GraphBuilder::clamp(Tensor x, double bound) {
  return graph->ready(x) ? graph->make<ClampOp>(graph->location(), x.width(), graph->value(x), llvm::APFloat(bound))
                         : Tensor();
}

Tensor GraphBuilder::route(Tensor x, int64_t count, bool normalized) {
  return route(x, Routing{count, normalized});
}

Tensor GraphBuilder::route(Tensor x, const Routing &routing) {
  if (!graph->ready(x) || (routing.bias && !graph->readyWeight(routing.bias, 1)))
    return {};
  return graph->make<RouteOp>(graph->location(), x.width(), graph->value(x), graph->value(routing.bias),
                              static_cast<uint64_t>(routing.count), routing.normalized,
                              static_cast<uint64_t>(routing.groups), static_cast<uint64_t>(routing.topkGroups),
                              static_cast<uint64_t>(routing.groupBest));
}

Tensor GraphBuilder::experts(Tensor x, Tensor routes, Weight gate, Weight up, Weight down, Activation kind,
                             int64_t chosen) {
  return experts(x, routes, Experts{gate, up, down, kind, chosen});
}

Tensor GraphBuilder::experts(Tensor x, Tensor routes, const Experts &all) {
  if (!graph->ready(x, routes) || !graph->readyWeight(all.gate, 2) || !graph->readyWeight(all.up, 2) ||
      !graph->readyWeight(all.down, 2))
    return {};
  llvm::SmallVector<Value> biases;
  for (Weight bias : {all.gateBias, all.upBias, all.downBias})
    if (bias && graph->readyWeight(bias, 1))
      biases.push_back(graph->value(bias));
  int64_t width = graph->shape(all.down)[0] / routes.width();
  return graph->make<ExpertsOp>(graph->location(all.down), width, activationKind(all.kind), graph->value(x),
                                graph->value(routes), graph->value(all.gate), graph->value(all.up),
                                graph->value(all.down), biases, static_cast<uint64_t>(all.chosen),
                                llvm::APFloat(all.clamp), mlir::TypeAttr());
}

Tensor GraphBuilder::join(Tensor x, Tensor y, int64_t heads) {
  return graph->ready(x, y) ? graph->make<JoinOp>(graph->location(), x.width() + y.width(), graph->value(x),
                                                  graph->value(y), static_cast<uint64_t>(heads))
                            : Tensor();
}

Tensor GraphBuilder::slice(Tensor x, int64_t offset, int64_t width) {
  if (!graph->ready(x))
    return {};
  if (width <= 0) {
    graph->error(fmt::format("a slice takes {} features", width));
    return {};
  }
  return graph->make<SliceOp>(graph->location(), width, graph->value(x), static_cast<uint64_t>(offset));
}

//===--- attention ----------------------------------------------------------------------------------------------===//

static MaskKind maskKind(Mask mask) {
  switch (mask) {
  case Mask::Full:
    return MaskKind::full;
  case Mask::Causal:
    return MaskKind::causal;
  case Mask::Prefix:
    return MaskKind::prefix;
  }
  endByDefect("the mask is known");
}

Tensor GraphBuilder::attention(Tensor queries, Tensor keys, Tensor values, const Attention &attention) {
  if (!graph->ready(queries, keys, values) || (attention.bias && !graph->readyWeight(attention.bias, 2)) ||
      (attention.sinks && !graph->readyWeight(attention.sinks, 1)))
    return {};
  return graph->attention(queries, keys, values, Value(), attention, maskKind(attention.mask));
}

KvCache GraphBuilder::kvCache(const std::string &name, int64_t heads, int64_t width, int64_t window) {
  return graph->kvCache(graph->addKvCache(graph->qualified(name), heads, width, KvCacheRole::sequence, window));
}

KvCache GraphBuilder::sourceKvCache(const std::string &name, int64_t heads, int64_t width) {
  return graph->kvCache(graph->addKvCache(graph->qualified(name), heads, width, KvCacheRole::source));
}

void GraphBuilder::kvAppend(KvCache cache, Tensor keys, Tensor values) {
  if (graph->ready(cache, keys, values))
    graph->create<KvAppendOp>(graph->location(), graph->value(cache), graph->value(keys), graph->value(values),
                              graph->sequences());
}

std::pair<Tensor, Tensor> GraphBuilder::kvRead(KvCache cache) {
  if (!graph->ready(cache))
    return {};
  KvCacheType type = graph->type(cache);
  auto rows = graph->activations(type.getHeads() * type.getWidth());
  auto op = graph->create<KvReadOp>(graph->location(), rows, rows, graph->value(cache), graph->sequences());
  if (!op)
    return {};
  return {graph->tensor(op.getKeys()), graph->tensor(op.getValues())};
}

Tensor GraphBuilder::cachedAttention(Tensor queries, Tensor keys, Tensor values, const Attention &kind,
                                     const std::string &name) {
  if (!graph->ready(queries, keys, values))
    return {};
  if (kind.keyValueHeads <= 0 || keys.width() % kind.keyValueHeads != 0) {
    graph->error(
        fmt::format("attention divides {} features of the keys into {} heads", keys.width(), kind.keyValueHeads));
    return {};
  }
  Attention used = graph->adapted(kind);
  if (graph->embeds)
    return attention(queries, keys, values, used);
  // A token of the prefix may see keys outside of the window.
  int64_t held = used.mask == Mask::Causal ? used.window : 0;
  KvCache cache = kvCache(name, kind.keyValueHeads, keys.width() / kind.keyValueHeads, held);
  kvAppend(cache, keys, values);
  auto [allKeys, allValues] = kvRead(cache);
  if (!graph->ready(allKeys, allValues))
    return {};
  Value sinkQueries = graph->sinks > 0 ? graph->sinkQueries(queries, used.window) : Value();
  return graph->attention(queries, allKeys, allValues, sinkQueries, used, maskKind(used.mask));
}

Tensor GraphBuilder::crossAttention(Tensor queries, KvCache source, const Attention &kind) {
  auto [keys, values] = kvRead(source);
  Attention everything = kind;
  everything.mask = Mask::Full;
  return attention(queries, keys, values, everything);
}

}  // namespace talc
