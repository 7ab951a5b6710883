// SPDX-License-Identifier: Apache-2.0
// Values that no op of GraphBuilder yields, made of the ops that there are: rows of tables that all tokens share, the
// embeddings of the tokens before, and reciprocals.
#pragma once

#include "frontends/GraphBuilder.h"

namespace talc {

// Row `row` of a table of `rows` rows, [tokens, width of the table]: the same for every token of `like`.
//
// A linear layer of one feature, which is 1, yields it.
Tensor constantRow(GraphBuilder &g, Tensor like, Weight table, int64_t row, int64_t rows);

// The embeddings of the tokens before, and that of the token `start` for the first one of a text: what a decoder reads
// that writes the text again. The table has `rows` rows; `heads` divides its width.
//
// Attention with a window of two tokens yields them (GraphBuilder::previous), up to rounding.
Tensor shiftedEmbedding(GraphBuilder &g, Weight table, int64_t start, int64_t rows, int64_t heads);

// The classes that such a decoder gives the text, by its last token `end`, or each token of it (BART, T5).
void outputClasses(GraphBuilder &g, Tensor x, const std::vector<std::string> &labels, bool areOfText, int64_t end);

// A feature of a token, [tokens, 1], `width` times: [tokens, width].
Tensor repeated(GraphBuilder &g, Tensor feature, int64_t width);

// One over a feature, [tokens, 1], that is no less than 1e-3.
//
// An RMS norm divides by the feature, beside which a far smaller number stands; the relative error is 5e-13 over the
// feature's square.
Tensor reciprocal(GraphBuilder &g, Tensor feature);

}  // namespace talc
