// SPDX-License-Identifier: Apache-2.0
// What the command line of `talc bench` says, after it was parsed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc::bench {

struct BenchOptions {
  std::string app;  // an artifact; empty when an op is measured
  std::string op;   // "linear 128x768x2304", ...
  std::vector<int64_t> prompts, generated, depths, batches, sequences, threads;  // every combination is a test
  int64_t repetitions = 5;
  std::string output = "md";  // md, csv, json
  bool kernels = false, hugePages = false;
  std::string roofline;           // an SVG file; empty: none
  std::string weights = "f32";    // of an op
  std::string target = "native";  // of an op
  std::string programDirectory;
};

// Returns an exit status.
int bench(const BenchOptions &options);

}  // namespace talc::bench
