// SPDX-License-Identifier: Apache-2.0
// Every part takes the rest of each sequence's open segment.
#include "runtime/session/SegmentSplitter.h"

#include <algorithm>
#include <cstring>

namespace talc {

bool SegmentSplitter::begin(const Batch &whole, const artifact::ModelInfo &info) {
  batch = &whole;
  segment = static_cast<int32_t>(info.segment);
  auto goesOn = [this](const artifact::Span &span) { return span.tokenCount > segment - span.firstPosition; };
  const auto &all = batch->spans();
  if (segment == 0 || std::none_of(all.begin(), all.end(), goesOn))
    return false;
  done.assign(all.size(), 0);
  most = {};
  for (const artifact::Span &span : all)
    most.tokens += std::min(span.tokenCount, segment);
  for (int32_t i = 0; i < artifact::maxOutputs; ++i) {
    OutputRows &output = outputs[i];
    output.width = info.outputs[i].width;
    output.values.resize(batch->wantedTokens(i).size() * output.width);
    output.splitWanted.assign(all.size(), 0);
    most.wanted[i] = std::min<uint64_t>(batch->wantedTokens(i).size(), most.tokens);
    output.rows.reserve(most.wanted[i]), output.places.reserve(most.wanted[i]);
  }
  ids.reserve(most.tokens), rows.reserve(most.tokens), spans.reserve(all.size());
  return true;
}

bool SegmentSplitter::next(Step &step) {
  ids.clear(), rows.clear(), spans.clear();
  for (OutputRows &output : outputs)
    output.rows.clear(), output.places.clear();
  for (size_t i = 0; i < done.size(); ++i)
    if (done[i] < batch->spans()[i].tokenCount)
      addSpan(i);
  step.tokenCount = static_cast<int64_t>(ids.size());
  step.spanCount = static_cast<int64_t>(spans.size());
  step.inputs.tokenIds = ids.data();
  step.tokens = rows.data();
  step.spans = spans.data();
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    step.wanted[i] = {static_cast<int64_t>(outputs[i].rows.size()), outputs[i].rows.data()};
  return !ids.empty();
}

bool SegmentSplitter::isDone() const {
  bool allWanted = true, allTokens = true;
  for (size_t i = 0; i < done.size(); ++i)
    allTokens &= done[i] == batch->spans()[i].tokenCount;
  for (int32_t output = 0; output < artifact::maxOutputs; ++output)
    for (size_t i = 0; i < done.size(); ++i)
      allWanted &=
          int64_t(outputs[output].splitWanted[i]) == batch->firstOutput(output, i + 1) - batch->firstOutput(output, i);
  return allTokens && allWanted;
}

void SegmentSplitter::addSpan(size_t number) {
  artifact::Span span = batch->spans()[number];
  const int32_t first = span.firstToken + done[number], left = span.tokenCount - done[number];
  span.segment += (span.firstPosition + done[number]) / segment;
  span.firstPosition = batch->tokens()[first].position;
  span.tokenCount = std::min(left, segment - span.firstPosition);
  span.firstToken = static_cast<int32_t>(ids.size());
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    addWanted(i, number, first, span.tokenCount, span.firstToken);
  const auto *begin = batch->ids().data() + first;
  ids.insert(ids.end(), begin, begin + span.tokenCount);
  rows.insert(rows.end(), batch->tokens().begin() + first, batch->tokens().begin() + first + span.tokenCount);
  done[number] += span.tokenCount;
  spans.push_back(span);
}

// The wanted tokens of a sequence are in ascending order.
void SegmentSplitter::addWanted(int32_t output, size_t number, int32_t first, int32_t count, int32_t rowOfPart) {
  OutputRows &result = outputs[output];
  const int32_t begin = batch->firstOutput(output, number), end = batch->firstOutput(output, number + 1);
  for (auto place = static_cast<int32_t>(begin + result.splitWanted[number]); place < end; ++place) {
    int32_t row = batch->wantedTokens(output)[place];
    if (row >= first + count)
      return;
    result.rows.push_back(row - first + rowOfPart);
    result.places.push_back(place);
    ++result.splitWanted[number];
  }
}

void SegmentSplitter::collect(int32_t output, const float *values) {
  OutputRows &result = outputs[output];
  for (size_t i = 0; i < result.places.size(); ++i)
    memcpy(result.values.data() + result.places[i] * result.width, values + i * result.width,
           result.width * sizeof(float));
}

}  // namespace talc
