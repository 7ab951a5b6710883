// SPDX-License-Identifier: Apache-2.0
// Matmuls of math libraries that happen to be installed, for comparison. talc builds without any of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace talc::bench {

// x [m, k] times weight [k, n], with sums in f32. A single row uses the matrix-vector product of the library, if it has
// one.
struct LibraryMatmul {
  std::string library;  // OpenBLAS, oneDNN
  std::string type;     // of the operands: f32, bf16
  std::string kernel;   // the library's name for its code for this CPU; empty: it does not tell
  std::function<void()> run;
};

// Return the matmuls of all installed libraries, on random values: of f32, and of bf16.
std::vector<LibraryMatmul> f32Matmuls(int64_t m, int64_t k, int64_t n, int32_t threads);
std::vector<LibraryMatmul> bf16Matmuls(int64_t m, int64_t k, int64_t n, int32_t threads);

}  // namespace talc::bench
