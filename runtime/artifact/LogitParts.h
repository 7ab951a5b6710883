// SPDX-License-Identifier: Apache-2.0
// The parts of a model's logits that give the log-probability of a word (adaptive softmax): OutputKind::Head and Tail.
//
//   logits       | words in no cluster | words of cluster 0 | words of cluster 1 |
//   head         | words in no cluster | cluster 0 | cluster 1 |
//   tail 0                             | words of cluster 0 |
//   tail 1                                                  | words of cluster 1 |
//
//   log p(word of cluster c) = head(cluster c) + tail c(word)
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

namespace talc {

class LogitParts {
public:
  explicit LogitParts(const artifact::ModelInfo &info) : info(info), head(artifact::countResults(info)) {
    while (head + 1 + tails < artifact::maxOutputs && is(head + 1 + tails, artifact::OutputKind::Tail))
      ++tails;
  }

  // False: log-probabilities must be computed from the logits.
  bool exist() const { return head < artifact::maxOutputs && is(head, artifact::OutputKind::Head); }

  // Whether either no part exists, or the parts have every word once and nothing follows them.
  bool areWhole() const;

  // A value of a token's output; output -1: there is none.
  struct Place {
    int32_t output;
    uint32_t column;
  };
  // The values whose sum is the log-probability of a word of the vocabulary.
  struct Sum {
    Place first, second;
  };
  Sum find(uint32_t word) const;

private:
  bool is(int32_t output, artifact::OutputKind kind) const {
    return info.outputs[output].kind == static_cast<uint32_t>(kind);
  }
  uint32_t unclustered() const { return info.outputs[head].width - static_cast<uint32_t>(tails); }

  const artifact::ModelInfo &info;
  int32_t head, tails = 0;
};

}  // namespace talc
