// SPDX-License-Identifier: Apache-2.0
// Cuts a batch whose sequences go on into other segments: each part has rows of one segment of every sequence, so that
// code for a step never meets two.
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
  // Whether a batch is more than one part. The batch must stay as it is until the last part.
  bool begin(const Batch &batch, const artifact::ModelInfo &info);
  // An upper bound for all parts.
  StepSize size() const { return most; }

  // The next part, until next() or begin(); false after the last.
  bool next(Step &step);
  // Takes the results of the part that ran to their places among the batch's.
  void collect(int32_t output, const float *rows);
  // [rows][width] of the batch, when all parts have run.
  const float *results(int32_t output) const { return outputs[output].values.data(); }

private:
  struct OutputRows {
    uint64_t width = 0;
    std::vector<float> values;          // of the batch
    std::vector<int32_t> rows, places;  // of the part: its rows, and where their results belong
    std::vector<size_t> taken;          // [span], wanted rows of the batch that parts have had
  };

  void addSpan(size_t number);
  void addWanted(int32_t output, size_t number, int32_t first, int32_t count, int32_t rowOfPart);

  const Batch *batch = nullptr;
  int32_t segment = 0;
  StepSize most;
  std::vector<int32_t> done;  // [span], rows that parts have had
  std::vector<int32_t> ids;
  std::vector<artifact::StepToken> rows;
  std::vector<artifact::Span> spans;
  OutputRows outputs[artifact::maxOutputs];
};

}  // namespace talc
