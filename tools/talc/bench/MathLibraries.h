// SPDX-License-Identifier: Apache-2.0
// Matrix products of math libraries that happen to be installed, for comparison; none is needed to build talc.
#pragma once

#include "tools/talc/bench/MatmulOperands.h"

#include <functional>
#include <string>
#include <vector>

namespace talc::bench {

// x [rows, depth] times weight [depth, columns], with sums in f32; a single row uses the library's matrix-vector
// product, if any.
struct LibraryMatmul {
  std::string library;  // OpenBLAS, oneDNN
  std::string kernel;   // as the library calls the code that it takes for this processor; empty: it does not tell
  std::function<void()> run;
};

// Products of f32 of the libraries that are found, on random values, with that number of threads.
std::vector<LibraryMatmul> f32Matmuls(int64_t rows, int64_t depth, int64_t columns, int32_t threads);
// The same of bf16.
std::vector<LibraryMatmul> bf16Matmuls(int64_t rows, int64_t depth, int64_t columns, int32_t threads);

// Nothing if OpenBLAS is not installed.
std::vector<LibraryMatmul> openBlasMatmul(const MatmulOperandsPtr &matrices, int32_t threads);

}  // namespace talc::bench
