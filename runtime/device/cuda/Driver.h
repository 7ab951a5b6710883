// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver, opened when somebody asks for a GPU: libcuda.so.1 belongs to the driver, and nothing else is
// needed.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cuda/DriverApi.h"

#include <memory>

namespace talc::cuda {

class Driver {
public:
  // The process's one, opened by the first call and initialized. Fails with DEVICE: no driver, one that is too old, or
  // one that does not start.
  static Status open(const Driver *&driver);

#define TALC_CUDA_MEMBER(name, ...) Result (*name)(__VA_ARGS__) = nullptr;
  TALC_CUDA_FUNCTIONS(TALC_CUDA_MEMBER)
  TALC_CUDA_GRAPH_FUNCTIONS(TALC_CUDA_MEMBER)
#undef TALC_CUDA_MEMBER

  // Whether there are graphs; else their functions are not to be called.
  bool hasGraphs() const {
    return graphs;
  }

  // "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  std::string describe(Result result) const;

private:
  Status load();
  bool findGraphs(void *library);

  bool graphs = false;
};

}  // namespace talc::cuda
