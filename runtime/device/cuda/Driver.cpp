// SPDX-License-Identifier: Apache-2.0
// A table of the library's functions. It is never closed: drivers do not like that.
#include "runtime/device/cuda/Driver.h"

#include <dlfcn.h>
#include <link.h>
#include <mutex>

// Where nothing else of a statically linked program asks for them they stay null.
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

namespace talc::cuda {

// Of the oldest driver whose JIT takes PTX 7.0, which is what code for sm_80 is written in: CUDA 11.0.
constexpr int32_t oldestVersion = 11000;

// A statically linked program has no dynamic linker, and libraries that it loads would bring a second C library. Called
// for the program first.
static int findsInterpreter(dl_phdr_info *program, size_t, void *found) {
  for (int i = 0; i < program->dlpi_phnum; ++i)
    *static_cast<bool *>(found) |= program->dlpi_phdr[i].p_type == PT_INTERP;
  return 1;
}

static bool loadsLibraries() {
  bool found = false;
  dl_iterate_phdr(findsInterpreter, &found);
  return found && dlopen && dlsym && dlerror;
}

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
  if (!loadsLibraries())
    return Status::failure(TALC_ERROR_DEVICE,
                           "cuda: this program is linked statically and cannot load a driver; compile the model with a "
                           "--target that has nvptx");
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return missing(dlerror());
#define TALC_CUDA_FIND(name, ...)                                                                                      \
  if (!(name = reinterpret_cast<decltype(name)>(dlsym(library, #name))))                                               \
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
  return {};
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
