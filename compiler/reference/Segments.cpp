// SPDX-License-Identifier: Apache-2.0
// Cuts a step at the ends of segments into several, each with tokens of one segment of every sequence.
#include "compiler/reference/Interpreter.h"

#include <algorithm>

namespace talc::reference {

namespace {

using Sequence = Interpreter::Sequence;

// The tokens [first, first + count) of a sequence, and those of them that have outputs.
Sequence part(const Sequence &whole, int64_t first, int64_t count, size_t results) {
  Sequence result = whole;
  result.ids.assign(whole.ids.begin() + first, whole.ids.begin() + first + count);
  if (!whole.types.empty())
    result.types.assign(whole.types.begin() + first, whole.types.begin() + first + count);
  result.outputTokens.assign(results, {});
  for (size_t i = 0; i < results; ++i) {
    auto last = static_cast<int64_t>(whole.ids.size()) - 1;
    for (int64_t row : i < whole.outputTokens.size() ? whole.outputTokens[i] : std::vector<int64_t>{last})
      if (row >= first && row < first + count)
        result.outputTokens[i].push_back(row - first);
  }
  return result;
}

// Rows of results, collected part by part for each sequence.
struct Collected {
  std::vector<std::vector<double>> values;  // of each sequence
  int64_t columns = 0;

  void add(const std::vector<Sequence> &parts, const std::vector<size_t> &places, size_t output, const Matrix &rows) {
    auto from = rows.values.begin();
    columns = rows.columns;
    for (size_t i = 0; i < parts.size(); ++i) {
      auto to = from + static_cast<int64_t>(parts[i].outputTokens[output].size()) * columns;
      values[places[i]].insert(values[places[i]].end(), from, to);
      from = to;
    }
  }

  Matrix rows() const {
    Matrix result(0, columns);
    for (const std::vector<double> &own : values)
      result.values.insert(result.values.end(), own.begin(), own.end());
    result.rows = columns > 0 ? static_cast<int64_t>(result.values.size()) / columns : 0;
    return result;
  }
};

}  // namespace

llvm::Expected<std::vector<Matrix>> Interpreter::stepBySegments(llvm::ArrayRef<Sequence> sequences) {
  std::vector<int64_t> done(sequences.size());
  std::vector<Collected> collected(results(), {std::vector<std::vector<double>>(sequences.size())});
  while (true) {
    std::vector<Sequence> parts;
    std::vector<size_t> places;
    for (size_t i = 0; i < sequences.size(); ++i) {
      int64_t remaining = static_cast<int64_t>(sequences[i].ids.size()) - done[i];
      int64_t count = std::min(remaining, segment - position(sequences[i].slot) % segment);
      if (remaining == 0 && !sequences[i].ids.empty())
        continue;
      parts.push_back(part(sequences[i], done[i], count, results()));
      places.push_back(i);
      done[i] += count;
    }
    if (parts.empty())
      break;
    llvm::Expected<std::vector<Matrix>> results = stepInSegments(parts);
    if (!results)
      return results.takeError();
    for (size_t output = 0; output < results->size(); ++output)
      collected[output].add(parts, places, output, (*results)[output]);
  }
  std::vector<Matrix> result;
  for (const Collected &rows : collected)
    result.push_back(rows.rows());
  return result;
}

}  // namespace talc::reference
