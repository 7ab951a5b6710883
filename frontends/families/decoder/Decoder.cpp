// SPDX-License-Identifier: Apache-2.0
// Writes the graph of a decoder from its description.
#include "frontends/families/decoder/Decoder.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace talc {

// A model with other factors for longer texts is compiled for texts that do not need them, unless it is asked for more;
// one whose base grows with the text, for as many as that serves.
static int64_t usualLength(const std::optional<Rope> &rope) {
  if (auto *listed = rope ? std::get_if<LongScaling>(&rope->scaling) : nullptr)
    return listed->original;
  auto *dynamic = rope ? std::get_if<DynamicScaling>(&rope->scaling) : nullptr;
  return dynamic ? static_cast<int64_t>(dynamic->factor * static_cast<double>(dynamic->original)) : 0;
}

// Only distances count, if frequencies do not follow from the length of a text.
static bool isRelative(const std::optional<Rope> &rope) {
  return !rope ||
         !(std::holds_alternative<LongScaling>(rope->scaling) || std::holds_alternative<DynamicScaling>(rope->scaling));
}

void Decoder::definePositions(GraphBuilder &g) const {
  if (attention.infini)
    return g.segments(attention.infini->segment);
  if (!stateLayers.empty() && std::all_of(stateLayers.begin(), stateLayers.end(), [](bool has) { return has; }))
    return g.anyLength();
  const auto &ropes = attention.ropes;
  int64_t usual = usualLength(ropes.front());
  bool endless = std::all_of(ropes.begin(), ropes.end(), isRelative) && !attention.growth;
  for (int64_t layer = 0; layer < layers; ++layer)
    endless &= attention.windows[layer] > 0 || hasState(layer);
  g.positions(std::max(positions, usual), hasHardPositions, usual, endless && !hasHardPositions);
}

Tensor Decoder::normed(GraphBuilder &g, Tensor x, const std::string &name) const {
  return name.empty() ? x : norm.write(g, x, name);
}

Tensor Decoder::embed(GraphBuilder &g, Weight table) const {
  Weight rows;
  if (!embedding.positions.empty()) {
    std::string first = embedding.firstPosition > 0 ? " + " + std::to_string(embedding.firstPosition) : "";
    rows = g.weight(embedding.positions + ".weight", {positions + embedding.firstPosition, width},
                    defaults.keys.positions + first + " by " + defaults.keys.width);
  }
  if (embedding.sinusoids)
    rows = g.sinusoids(width, *embedding.sinusoids, embedding.firstPosition);
  Tensor x = g.embedding(table);
  double factor = embedding.isRounded ? g.asStored(table, embedding.factor) : embedding.factor;
  if (factor != 1)
    x = g.scale(x, factor);
  if (!embedding.projection.empty())
    x = Linear{embedding.projection}.write(g, x, width, "hidden_size by the embedding's width");
  if (rows)
    x = g.add(x, g.position(rows, embedding.firstPosition));
  return normed(g, x, embedding.norm);
}

// A part's result, added to the residual.
Tensor Decoder::joined(GraphBuilder &g, Tensor residual, Tensor made, const PartNorms &norms) const {
  made = normed(g, made, norms.output);
  Tensor x = g.add(residual, residualFactor == 1 ? made : g.scale(made, residualFactor));
  return normed(g, x, norms.sum);
}

Tensor Decoder::layer(GraphBuilder &g, Tensor x, int64_t number) const {
  auto attend = [&](Tensor y) { return otherAttention ? otherAttention(g, y, number) : attention(g, y, number); };
  auto process = [&](Tensor y) {
    return otherFeedForward ? otherFeedForward(g, y, number) : feedForward(g, y, number);
  };
  const bool hasOthers = stateless && !hasState(number);
  const PartNorms &outer = hasOthers ? stateless->first : attentionNorms,
                  &inner = hasOthers ? stateless->second : innerNorms;
  Tensor y = number > 0 || isFirstNormed ? normed(g, x, outer.input) : x;
  Tensor mixed = joined(g, hasNormedResidual ? y : x, attend(y), outer);
  if (hasOnePart)
    return mixed;
  if (isParallel)
    return joined(g, mixed, process(inner.input.empty() ? y : normed(g, x, inner.input)), inner);
  Tensor z = normed(g, mixed, inner.input);
  return joined(g, hasNormedResidual ? z : mixed, process(z), inner);
}

Tensor Decoder::logits(GraphBuilder &g, Tensor x, Weight matrix) const {
  if (head.transform)
    x = head.transform(g, x);
  Tensor y = g.linear(x, matrix, head.bias ? g.weight(head.name + ".bias", {vocabulary}) : Weight());
  if (head.factor != 1)
    y = g.scale(y, head.factor);
  return head.cap > 0 ? g.scale(g.activation(g.scale(y, 1 / head.cap), Activation::Tanh), head.cap) : y;
}

// Attention in both directions is for whole texts.
void Decoder::chooseTask(GraphBuilder &g) {
  if (head.task == DecoderTask::Words && g.isEmbedder())
    head.task = DecoderTask::Hidden;
  if (head.task == DecoderTask::Words) {
    if (attention.mask == Mask::Full)
      config.unsupported("use_bidirectional_attention", "is true, but the model continues texts, for which talc "
                                                        "computes causal attention only");
    return;
  }
  g.useAsEmbedder();
  bool isCausal = !config.isFlag("is_causal") || config.flag("is_causal", true);
  if (isCausal || attention.alibi || attention.mask == Mask::Full)
    return;
  attention.mask = Mask::Full;
  for (int64_t &window : attention.windows)
    window += window > 0;  // of each side
}

Tensor Decoder::finalStates(GraphBuilder &g, Tensor x) const {
  Norm last = norm;
  last.bias = norm.bias && head.hasNormBias;
  x = head.norm.empty() ? x : last.write(g, x, head.norm);
  return head.projection.empty()
             ? x
             : Linear{head.projection}.write(g, x, tableWidth, "the embedding's width by hidden_size");
}

void Decoder::defineClasses(GraphBuilder &g, Tensor x) const {
  const bool isPooled = head.task == DecoderTask::Text && head.pool;
  x = isPooled ? head.pool(g, finalStates(g, x)) : finalStates(g, g.select(x));
  const auto count = static_cast<int64_t>(head.labels.size());
  auto stored = std::find_if(head.classifiers.begin(), head.classifiers.end(),
                             [&](const std::string &name) { return g.has(name + ".weight"); });
  const std::string &name = stored == head.classifiers.end() ? head.classifiers.front() : *stored;
  Weight matrix = g.weight(name + ".weight", {count, x.width()}, "classes by hidden_size");
  x = g.linear(x, matrix, head.classifierBias ? g.weight(name + ".bias", {count}) : Weight());
  g.output(x, head.task == DecoderTask::Text ? Output::Classes : Output::TokenClasses);
  g.labels(head.labels);
  if (head.task == DecoderTask::Text && !defaults.isEncoder)
    g.classPlace(ClassPlace::LastExcept, head.padding < vocabulary ? head.padding : -1);
}

void Decoder::define(GraphBuilder &g) {
  if (config.failed())
    return;
  chooseTask(g);
  if (attention.windows.empty())
    attention.windows.assign(layers, 0);
  if (attention.ropes.empty())
    attention.ropes.resize(layers);
  definePositions(g);
  const std::string tableName = embedding.table + ".weight";
  const bool scoresWords = head.task == DecoderTask::Words || head.task == DecoderTask::Masked;
  Weight table, matrix;
  if (scoresWords)
    std::tie(table, matrix) = g.tiedWeights(tableName, head.name + ".weight", {vocabulary, tableWidth}, head.isTied);
  else
    table = g.weight(tableName, {vocabulary, tableWidth}, "vocab_size by hidden_size");
  attention.prepare(g);
  Tensor x = embed(g, table);
  x = g.repeat(layersName, layers, x, [&](Tensor x, int64_t number) { return layer(g, x, number); });
  if (scoresWords)
    g.output(logits(g, finalStates(g, g.select(x)), matrix));
  else if (head.task != DecoderTask::Hidden)
    defineClasses(g, x);
  if (head.task != DecoderTask::Words)
    g.output(finalStates(g, g.select(x, head.task == DecoderTask::Hidden ? 0 : 1)), Output::Hidden);
}

}  // namespace talc
