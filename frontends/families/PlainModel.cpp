// SPDX-License-Identifier: Apache-2.0
// Writes the layers of decoders with layer norms and a plain feed-forward.
#include "frontends/families/PlainModel.h"

#include <cmath>
#include <tuple>

namespace talc {

void PlainModel::checkHeads(const ModelConfig &config, const char *headsKey, const char *widthKey) {
  config.requireDivides(headsKey, heads, widthKey, width);
  if (heads % keyValueHeads != 0)
    config.invalid(headsKey, std::to_string(keyValueHeads) + " key-value heads do not divide " + std::to_string(heads) +
                                 " attention heads");
  inOrder = config.flag("qkv_in_order", false);
  headWidth = width / heads;
  scale = 1 / std::sqrt(static_cast<double>(headWidth));
}

Tensor PlainModel::linear(GraphBuilder &g, Tensor x, const std::string &name, int64_t outputs, bool bias) const {
  Weight matrix = g.weight(name + ".weight", {outputs, x.width()}, "outputs by inputs");
  return g.linear(x, matrix, bias ? g.weight(name + ".bias", {outputs}) : Weight());
}

Tensor PlainModel::linearPart(GraphBuilder &g, Tensor x, const std::string &name, const Part &part) const {
  int64_t all = (heads + 2 * keyValueHeads) * headWidth;
  auto some = [&](Weight weight) { return g.rows(weight, part.first, part.count, part.period); };
  Weight matrix = g.weight(name + ".weight", {all, x.width()}, "queries, keys and values by inputs");
  return g.linear(x, some(matrix), inputBias ? some(g.weight(name + ".bias", {all})) : Weight());
}

PlainModel::Part PlainModel::partOfHeads(char part) const {
  if (inOrder)
    return partOfAll(part);
  int64_t place = part == 'q' ? 0 : part == 'k' ? 1 : 2;
  return {place * headWidth, headWidth, 3 * headWidth, heads};
}

PlainModel::Part PlainModel::partOfAll(char part) const {
  int64_t queries = heads * headWidth, others = keyValueHeads * headWidth, all = queries + 2 * others;
  if (part == 'q')
    return {0, queries, all, heads};
  return {part == 'k' ? queries : queries + others, others, all, keyValueHeads};
}

Tensor PlainModel::norm(GraphBuilder &g, Tensor x, const std::string &name) const {
  Weight scale = g.weight(name + ".weight", {x.width()});
  return g.layerNorm(x, scale, normBias ? g.weight(name + ".bias", {x.width()}) : Weight(), epsilon);
}

Tensor PlainModel::attention(GraphBuilder &g, Tensor x) const {
  Tensor q = project(g, x, 'q'), k = project(g, x, 'k');
  if (rope) {
    q = g.rope(q, heads, *rope);
    k = g.rope(k, keyValueHeads, *rope);
  }
  Attention kind = {heads, keyValueHeads, scale};
  kind.bias = bias;
  kind.absolute = roundedAlibi;
  return linear(g, g.cachedAttention(q, k, project(g, x, 'v'), kind), names.output, width, outputBias);
}

Tensor PlainModel::feedForward(GraphBuilder &g, Tensor x) const {
  Tensor hidden = g.activation(linear(g, x, names.inner, inner, innerBias), activation);
  return linear(g, hidden, names.outer, width, innerBias);
}

Tensor PlainModel::layer(GraphBuilder &g, Tensor x) const {
  Tensor y = norm(g, x, names.attentionNorm), mixed = g.add(x, attention(g, y));
  switch (residual) {
  case Residual::InTurn:
    return g.add(mixed, feedForward(g, norm(g, mixed, names.innerNorm)));
  case Residual::SideBySide:
    return g.add(mixed, feedForward(g, norm(g, x, names.innerNorm)));
  case Residual::OneNorm:
    return g.add(mixed, feedForward(g, y));
  }
  return {};
}

void PlainModel::define(GraphBuilder &g) {
  g.positions(positions, hardPositions);
  const std::string tableName = names.table + ".weight";
  Weight table, head;
  if (g.isEmbedder())
    table = g.weight(tableName, {vocabulary, tableWidth});
  else
    std::tie(table, head) = g.tiedWeights(tableName, names.head + ".weight", {vocabulary, tableWidth}, tied);
  if (alibi > 0)
    bias = g.alibi(heads, roundedAlibi ? alibi : 0);
  Tensor x = embed(g, table);
  x = g.repeat(names.layers, layers, x, [&](Tensor x, int64_t) { return layer(g, x); });
  x = finish(g, g.select(x));
  if (g.isEmbedder())
    return g.output(x, Output::Hidden);
  g.output(g.linear(x, head, headBias ? g.weight(names.head + ".bias", {vocabulary}) : Weight()));
}

}  // namespace talc
