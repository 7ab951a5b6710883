// SPDX-License-Identifier: Apache-2.0
// A table of the library's functions.
#include "runtime/device/cuda/Driver.h"

#include "runtime/device/gpu/DriverLibrary.h"

#include <mutex>

namespace talc::cuda {

// CUDA 11.0 is the oldest version whose JIT takes PTX 7.0, in which code for sm_80 is written.
constexpr int32_t oldestVersion = 11000;
// CUDA 11.4 is the first version with the function that instantiates graphs in later ones, too.
constexpr int32_t graphVersion = 11040;

static const char *const installDriver = "install NVIDIA's driver, or choose --device=cpu";

Status Driver::open(const Driver *&driver) {
  static std::mutex mutex;
  static Driver opened;
  static bool ready = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!ready)
    if (Status status = opened.load(); status.failed())
      return status;
  ready = true;
  driver = &opened;
  return {};
}

Status Driver::load() {
  auto missing = [](const char *what) {
    return Status::failure(TALC_ERROR_DEVICE, "cuda: %s; %s", what, installDriver);
  };
  void *library = nullptr;
  if (Status status = openDriverLibrary("libcuda.so.1", "cuda", "nvptx", installDriver, library); status.failed())
    return status;
#define TALC_CUDA_FIND(name, ...)                                                                                      \
  if (!(name = reinterpret_cast<decltype(name)>(findInLibrary(library, #name))))                                       \
    return missing("libcuda.so.1 lacks " #name);
  TALC_CUDA_FUNCTIONS(TALC_CUDA_FIND)
#undef TALC_CUDA_FIND
  int32_t version = 0;
  if (Result result = cuDriverGetVersion(&version); result != Success)
    return missing(("the driver does not say its version: " + describe(result)).c_str());
  if (version < oldestVersion)
    return Status::failure(TALC_ERROR_DEVICE,
                           "cuda: the driver is for CUDA %d.%d, but at least %d.%d is needed; install a newer one, or "
                           "choose --device=cpu",
                           version / 1000, version % 1000 / 10, oldestVersion / 1000, oldestVersion % 1000 / 10);
  if (Result result = cuInit(0); result != Success)
    return missing(("the driver does not start: " + describe(result)).c_str());
  graphs = version >= graphVersion && findGraphs(library);
  return {};
}

bool Driver::findGraphs(void *library) {
#define TALC_CUDA_FIND(name, ...)                                                                                      \
  if (!(name = reinterpret_cast<decltype(name)>(findInLibrary(library, #name))))                                       \
    return false;
  TALC_CUDA_GRAPH_FUNCTIONS(TALC_CUDA_FIND)
#undef TALC_CUDA_FIND
  return true;
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != Success || !name)
    return "error " + std::to_string(result);
  if (cuGetErrorString(result, &text) != Success || !text)
    return name;
  return std::string(name) + ": " + text;
}

}  // namespace talc::cuda
