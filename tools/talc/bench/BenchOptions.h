// SPDX-License-Identifier: Apache-2.0
// The parsed command line of `talc bench`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc::bench {

struct BenchOptions {
  std::vector<std::string> apps;  // artifacts; empty if an op is measured
  std::string op;                 // "linear 128x768x2304 q4_0", or several: "linear 1,8x768x2304 f32,q4_0"
  // Every combination is a test. Without prompts and generated tokens the tests have default lengths.
  std::vector<int64_t> prompts, generated, depths, batches, sequences, threads;
  int64_t repetitions = 5;
  std::string output = "md";  // or one of formatRecords
  bool kernels = false, hugePages = false, legend = true;
  std::string device;                              // that runs the model, such as cuda or vulkan:1; empty: the CPU
  std::string roofline;                            // the file to draw into; empty: none
  std::string weights;                             // of an op that does not name a format itself; empty: f32
  std::string compute = "integers";                // arithmetic of the op's matmul
  std::string target = "native";                   // of an op
  std::vector<std::string> generators = {"mlir"};  // of an op: the first is compared with the others
  std::string plans;                               // of the op's kernels
  std::string programDirectory;

  bool showsKernels() const { return kernels || !roofline.empty(); }
};

constexpr int64_t defaultBatch = 2048;

// Returns an exit status.
int bench(const BenchOptions &options);

}  // namespace talc::bench
