// SPDX-License-Identifier: Apache-2.0
// talc perplexity: measures how well a compiled model predicts a text, and how far it is from another model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace talc::perplexity {

struct Options {
  std::string app, text;
  std::string against;          // empty: nothing
  std::string name, otherName;  // of both models in messages; empty: their file names
  int32_t context = 512;        // tokens of a window
  int32_t windows = 0;          // at most; 0: all of the text
  int32_t compared = 0;         // the number of predictions at the end of a window; 0: its second half
  int32_t threads = 0;          // 0: as the runtime likes
  std::string progress;         // what standard error calls it; empty: no progress is shown
  // The widths of layers, for programs whose second result holds the outputs of layers (observeLayers); else empty.
  std::vector<int64_t> layers;
};

// A mean and its standard error.
struct Estimate {
  double mean = 0, error = 0;
};

// The prediction of a token by both models.
struct Comparison {
  Estimate divergence;  // of Kullback and Leibler, from the other model's distribution to this one's, in nats
  double maxDivergence = 0;
  Estimate sameTop;  // the share of predictions whose likeliest token is the same
  double otherPerplexity = 0;
  // For each layer of |y - z| / |z|, where y is what it yields for a token and z the same of the other model: the mean
  // over tokens, and the most. Empty: not observed.
  struct Layer {
    double mean = 0, maxError = 0;
  };
  std::vector<Layer> layers;
};

struct Results {
  int64_t windows = 0, context = 0, predictions = 0;
  std::optional<Estimate> perplexity;  // of models that continue texts
  std::optional<Comparison> comparison;
};

// The longest text that talc reads.
constexpr uint64_t maxTextBytes = uint64_t(1) << 30;

// The line of an error, or empty.
std::string measure(const Options &options, Results &results);

std::string format(const Results &results, const std::string &other);

}  // namespace talc::perplexity
