// SPDX-License-Identifier: Apache-2.0
// Splits a batch whose sequences continue into other segments: each part has tokens of one segment of every sequence,
// so that the code of a step never meets two.
//
//   segments of 4 tokens, rows by position      a: 2 3 | 0 1 2 3 | 0      b: 0 1 2
//   parts                                       a: 2 3, b: 0 1 2          a: 0 1 2 3          a: 0
#pragma once

#include "runtime/device/Device.h"
#include "runtime/session/Batch.h"

#include <vector>

namespace talc {

class SegmentSplitter {
public:
  // Returns whether a batch has more than one part. The batch must not change until the last part. Takes all memory
  // that the parts need.
  bool begin(const Batch &batch, const artifact::ModelInfo &info);
  // An upper bound for all parts.
  StepSize size() const { return most; }

  // Makes the next part, valid until next() or begin(); false after the last.
  bool next(Step &step);
  // Whether the parts so far cover the batch and all that is wanted of it.
  bool isDone() const;
  // Copies the results of the part that ran to their positions among the batch's.
  void collect(int32_t output, const float *rows);
  // [rows][width] of the whole batch, when all parts have run.
  const float *results(int32_t output) const { return outputs[output].values.data(); }

private:
  struct OutputRows {
    uint64_t width = 0;
    std::vector<float> values;          // of the batch
    std::vector<int32_t> rows, places;  // of the part: its tokens, and the indices of their results
    std::vector<size_t> splitWanted;    // [span], wanted tokens of the batch in earlier parts
  };

  void addSpan(size_t number);
  void addWanted(int32_t output, size_t number, int32_t first, int32_t count, int32_t rowOfPart);

  const Batch *batch = nullptr;
  int32_t segment = 0;
  StepSize most;
  std::vector<int32_t> done;  // [span], tokens in earlier parts
  std::vector<int32_t> ids;
  std::vector<artifact::StepToken> rows;
  std::vector<artifact::Span> spans;
  OutputRows outputs[artifact::maxOutputs];
};

}  // namespace talc
