// SPDX-License-Identifier: Apache-2.0
// Writes such rows with ops that there are: a linear layer of one feature, and attention with a window of two tokens.
#include "frontends/families/decoder/TokenRows.h"

#include <cmath>

namespace talc {

// The norm of a single feature is its bias, which is 1 here.
Tensor constantRow(GraphBuilder &g, Tensor like, Weight table, int64_t row, int64_t rows) {
  Tensor one = g.layerNorm(g.slice(like, 0, 1), g.ones(1), g.ones(1), 1);
  return g.linear(one, g.transpose(g.rows(table, row, 1, rows)));
}

// The differences from the start token are moved, which are zero before the first token.
Tensor shiftedEmbedding(GraphBuilder &g, Weight table, int64_t start, int64_t rows, int64_t heads) {
  Tensor x = g.embedding(table), first = constantRow(g, x, table, start, rows);
  return g.add(g.previous(g.add(x, g.scale(first, -1)), heads), first);
}

void outputClasses(GraphBuilder &g, Tensor x, const std::vector<std::string> &labels, bool areOfText, int64_t end) {
  const auto count = static_cast<int64_t>(labels.size());
  if (areOfText) {
    x = g.activation(g.linear(x, "classification_head.dense", x.width()), Activation::Tanh);
    g.output(g.linear(x, "classification_head.out_proj", count), Output::Classes);
    g.classPlace(ClassPlace::LastOf, end);
  } else {
    g.output(g.linear(x, "qa_outputs", count), Output::TokenClasses);
  }
  g.labels(labels);
}

Tensor repeated(GraphBuilder &g, Tensor feature, int64_t width) {
  while (feature && feature.width() < width)
    feature = g.join(feature, feature, 1);
  return feature && feature.width() > width ? g.slice(feature, 0, width) : feature;
}

// Normalized beside it, a number that is far smaller is that number over the feature, times the root of two.
Tensor reciprocal(GraphBuilder &g, Tensor feature) {
  constexpr double small = 1e-6, epsilon = 1e-30;
  Tensor number = g.scale(g.layerNorm(feature, g.ones(1), g.ones(1), 1), small);
  Tensor normed = g.rmsNorm(g.join(feature, number, 1), g.ones(2), epsilon);
  return g.scale(g.slice(normed, 1, 1), 1 / (small * std::sqrt(2.0)));
}

}  // namespace talc
