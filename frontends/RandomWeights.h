// SPDX-License-Identifier: Apache-2.0
// Weights for a model of which only the configuration is known: reproducible values in the right shapes.
#pragma once

#include "frontends/WeightSource.h"

namespace talc {

// Matrices are random with deviation 0.02, the scales of norms 1, everything named "bias" 0.
class RandomWeights : public WeightSource {
public:
  explicit RandomWeights(uint64_t seed) : seed(seed) {}

  bool has(const std::string &) const override { return true; }
  std::optional<WeightOrigin> find(const std::string &name, const std::vector<int64_t> &shape,
                                   const std::string &why) override;
  bool tied(const std::string &, const std::string &, bool isTied) override { return isTied; }

private:
  uint64_t seed;
};

}  // namespace talc
