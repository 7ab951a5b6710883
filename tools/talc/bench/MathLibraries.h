// SPDX-License-Identifier: Apache-2.0
// Matrix products of math libraries that happen to be installed, for comparison; none is needed to build talc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace talc::bench {

// x [rows, depth] times weight [depth, columns], f32; a single row uses the library's matrix-vector product, if any.
struct LibraryProduct {
  std::string library;  // OpenBLAS, oneDNN
  std::function<void()> run;
};

// Products of the libraries that are found, on random values, with that number of threads.
std::vector<LibraryProduct> libraryProducts(int64_t rows, int64_t depth, int64_t columns, int32_t threads);

}  // namespace talc::bench
