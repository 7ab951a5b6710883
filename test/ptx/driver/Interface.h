// SPDX-License-Identifier: Apache-2.0
// The exported functions have the types that the runtime declares.
#pragma once

#include "test/ptx/driver/Driver.h"

#define FAKE_CUDA_DECLARATION(name, ...) __attribute__((visibility("default"))) talc::cuda::Result name(__VA_ARGS__);

namespace talc::cuda {
extern "C" {
TALC_CUDA_FUNCTIONS(FAKE_CUDA_DECLARATION)
TALC_CUDA_GRAPH_FUNCTIONS(FAKE_CUDA_DECLARATION)
}
}  // namespace talc::cuda

// The beginning of every function.
#define FAKE_CUDA_ENTER()                                                                                              \
  ptx::Driver &driver = ptx::Driver::get();                                                                            \
  if (Result failure = driver.enter(__func__); failure != Success)                                                     \
    return failure;                                                                                                    \
  if (!driver.initialized)                                                                                             \
  return NotInitialized
