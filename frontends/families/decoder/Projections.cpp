// SPDX-License-Identifier: Apache-2.0
// Writes linear layers, and takes queries, keys and values from packed projections.
#include "frontends/families/decoder/Projections.h"

namespace talc {

Tensor Linear::write(GraphBuilder &g, Tensor x, int64_t outputs, const std::string &why) const {
  Weight matrix = transposed ? g.transpose(g.weight(name + ".weight", {x.width(), outputs}, why))
                             : g.weight(name + ".weight", {outputs, x.width()}, why);
  return g.linear(x, matrix, bias ? g.weight(biasName.empty() ? name + ".bias" : biasName, {outputs}, why) : Weight());
}

namespace {

// `count` of every `period` rows, from `first` on.
struct Rows {
  int64_t first, count, period;
};

Rows rowsInOrder(const HeadSizes &sizes, HeadPart part) {
  int64_t queries = sizes.heads * sizes.width, others = sizes.keyValueHeads * sizes.width;
  if (part == HeadPart::Query)
    return {0, queries, sizes.rowCount()};
  return {part == HeadPart::Key ? queries : queries + others, others, sizes.rowCount()};
}

Rows rowsByGroup(const HeadSizes &sizes, HeadPart part) {
  int64_t queries = sizes.heads / sizes.keyValueHeads * sizes.width, period = queries + 2 * sizes.width;
  if (part == HeadPart::Query)
    return {0, queries, period};
  return {part == HeadPart::Key ? queries : queries + sizes.width, sizes.width, period};
}

Rows rowsInQuarters(const HeadSizes &sizes, HeadPart part) {
  int64_t quarter = sizes.heads * sizes.width / 4;
  int64_t place = part == HeadPart::Query ? 0 : part == HeadPart::Value ? 1 : 2;
  return {place * quarter, quarter, 3 * quarter};
}

// In the order of Projections::Packing.
constexpr Rows (*packings[])(const HeadSizes &, HeadPart) = {nullptr, rowsInOrder, rowsByGroup, rowsInQuarters};

}  // namespace

void Projections::pack(const std::string &name, bool inOrder) {
  packing = inOrder ? Packing::InOrder : Packing::ByGroup;
  all.name = name;
}

void Projections::nameApart(const std::string &start, const std::string &end, const std::string &outputName) {
  query.name = start + "q" + end;
  key.name = start + "k" + end;
  value.name = start + "v" + end;
  output.name = outputName;
}

Weight Projections::ordered(GraphBuilder &g, Weight weight, const HeadSizes &sizes) const {
  if (turnsBack)
    return g.swapHalves(weight, sizes.width);
  return pairedFeatures > 0 ? g.halfSplit(weight, sizes.width, pairedFeatures) : weight;
}

Tensor Projections::prepare(GraphBuilder &g, Tensor x, const HeadSizes &sizes) const {
  bool isProduct = packing != Packing::Apart && all.transposed;
  return isProduct ? all.write(g, x, sizes.rowCount(), "queries, keys and values") : x;
}

// Half of the rows of each head, where files have its gates behind it.
static Tensor halfOfQueries(GraphBuilder &g, Tensor x, const Linear &query, const HeadSizes &sizes, int64_t first) {
  const std::string why = "queries and gates by hidden_size";
  auto half = [&](Weight weight) { return g.rows(weight, first, sizes.width, 2 * sizes.width); };
  int64_t outputs = 2 * sizes.heads * sizes.width;
  Weight matrix = half(g.weight(query.name + ".weight", {outputs, x.width()}, why));
  return g.linear(x, matrix, query.bias ? half(g.weight(query.name + ".bias", {outputs}, why)) : Weight());
}

Tensor Projections::gates(GraphBuilder &g, Tensor x, const HeadSizes &sizes) const {
  return halfOfQueries(g, x, query, sizes, sizes.width);
}

Tensor Projections::project(GraphBuilder &g, Tensor x, const HeadSizes &sizes, HeadPart part) const {
  if (hasGates && part == HeadPart::Query)
    return halfOfQueries(g, x, query, sizes, 0);
  auto arranged = [&](Weight weight) { return part == HeadPart::Value ? weight : ordered(g, weight, sizes); };
  const Linear &linear = packing != Packing::Apart ? all
                         : part == HeadPart::Query ? query
                         : part == HeadPart::Key   ? key
                                                   : value;
  auto rowsOf = packings[static_cast<size_t>(packing)];
  if (rowsOf && linear.transposed) {
    Rows rows = rowsOf(sizes, part);
    return g.slice(x, rows.first, rows.count);
  }
  int64_t heads = part == HeadPart::Query ? sizes.heads : sizes.keyValueHeads;
  int64_t outputs = rowsOf ? sizes.rowCount() : heads * sizes.width;
  std::string why = rowsOf ? "queries, keys and values by hidden_size"
                           : std::to_string(heads) + " heads of " + std::to_string(sizes.width);
  auto rowsIn = [&](const std::string &kind, const GraphBuilder::Shape &shape) {
    Weight weight = g.weight(linear.name + kind, shape, why);
    if (!rowsOf)
      return arranged(weight);
    Rows rows = rowsOf(sizes, part);
    return arranged(g.rows(weight, rows.first, rows.count, rows.period));
  };
  Weight matrix = rowsIn(".weight", {outputs, x.width()});
  return g.linear(x, matrix, linear.bias ? rowsIn(".bias", {outputs}) : Weight());
}

}  // namespace talc
