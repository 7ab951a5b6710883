// SPDX-License-Identifier: Apache-2.0
// A libvulkan.so.1 in front of the system's, which fails at a call that a test names, and counts objects that are
// created and destroyed.
//
//   FAKE_VULKAN_FAIL=vkQueueSubmit:2:-4    the second call of a function returns a code
//   FAKE_VULKAN_LOSE=vkQueueSubmit:2       from that call on the device is lost
//   FAKE_VULKAN_LARGEST=BYTES              a buffer can have no more
//   FAKE_VULKAN_CARD=1                     a driver that runs on CPUs claims to be a GPU
//   FAKE_VULKAN_CALLS=FILE                 at the end: a line "COUNT FUNCTION" for each that can fail, and "N left"
#include "runtime/device/vulkan/DriverApi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>

using namespace talc::vulkan;

namespace {

using AnyFunction = void (*)();
using GetAddress = AnyFunction (*)(Instance, const char *);

struct State {
  std::mutex mutex;
  std::map<std::string, int> calls;
  int liveObjects = 0;  // created and not destroyed
  bool lost = false;

  ~State() {
    const char *name = getenv("FAKE_VULKAN_CALLS");
    FILE *file = name ? fopen(name, "w") : nullptr;  // streams may be gone by now
    if (!file)
      return;
    for (const auto &[function, count] : calls)
      fprintf(file, "%d %s\n", count, function.c_str());
    fprintf(file, "%d left\n", liveObjects);
    fclose(file);
  }
};

State state;

// Whether a variable of the environment names this call; `rest` is what follows the name.
bool isNamed(const char *variable, const std::string &name, int count, const char *&rest) {
  const char *text = getenv(variable);
  std::string callName = name + ":" + std::to_string(count);
  rest = text ? text + std::min(strlen(text), callName.size()) : nullptr;
  return text && callName.compare(0, callName.size(), text, std::min(strlen(text), callName.size())) == 0 &&
         (*rest == 0 || *rest == ':');
}

// The code that a call returns instead of doing its work; Success: it does its work.
Result failure(const std::string &name) {
  const std::lock_guard<std::mutex> lock(state.mutex);
  int count = ++state.calls[name];
  const char *rest = nullptr;
  state.lost |= isNamed("FAKE_VULKAN_LOSE", name, count, rest);
  if (state.lost)
    return DeviceLost;
  return isNamed("FAKE_VULKAN_FAIL", name, count, rest) ? static_cast<Result>(atoi(rest + 1)) : Success;
}

void track(const std::string &name, int by) {
  const std::lock_guard<std::mutex> lock(state.mutex);
  bool creates = name.rfind("vkCreate", 0) == 0 || name == "vkAllocateMemory";
  bool destroys = name.rfind("vkDestroy", 0) == 0 || name == "vkFreeMemory";
  state.liveObjects += creates && by > 0 ? 1 : destroys && by < 0 ? -1 : 0;
}

// Lowers a GPU's limit and changes its type, where the environment asks for it.
template <typename Argument> void limit(Argument) {}
void limit(Properties2 *properties) {
  if (getenv("FAKE_VULKAN_CARD"))
    properties->deviceType = GpuType::Discrete;
  const char *largest = getenv("FAKE_VULKAN_LARGEST");
  for (auto *next = static_cast<Maintenance3Properties *>(properties->next); largest && next;
       next = static_cast<Maintenance3Properties *>(next->next))
    if (next->type == Maintenance3PropertiesType)
      next->maxMemoryAllocationSize = strtoull(largest, nullptr, 10);
}

template <typename Name, typename Function> struct Wrapped;

template <typename Name, typename... Arguments> struct Wrapped<Name, Result (*)(Arguments...)> {
  static Result (*real)(Arguments...);
  static Result call(Arguments... arguments) {
    if (Result result = failure(Name::text); result != Success) {
      // Nothing runs on a device that is lost.
      if (result == DeviceLost && strncmp(Name::text, "vkDeviceWait", 12) == 0)
        (void)real(arguments...);
      return result;
    }
    Result result = real(arguments...);
    if (result == Success)
      track(Name::text, 1);
    return result;
  }
};
template <typename Name, typename... Arguments> Result (*Wrapped<Name, Result (*)(Arguments...)>::real)(Arguments...);

template <typename Name, typename... Arguments> struct Wrapped<Name, Address (*)(Arguments...)> {
  static Address (*real)(Arguments...);
  static Address call(Arguments... arguments) {
    track(Name::text, 0);
    return real(arguments...);
  }
};
template <typename Name, typename... Arguments> Address (*Wrapped<Name, Address (*)(Arguments...)>::real)(Arguments...);

template <typename Name, typename... Arguments> struct Wrapped<Name, void (*)(Arguments...)> {
  static void (*real)(Arguments...);
  static void call(Arguments... arguments) {
    track(Name::text, -1);
    real(arguments...);
    (limit(arguments), ...);
  }
};
template <typename Name, typename... Arguments> void (*Wrapped<Name, void (*)(Arguments...)>::real)(Arguments...);

GetAddress findReal() {
  for (const char *path : {"/usr/lib/x86_64-linux-gnu/libvulkan.so.1", "/usr/lib/aarch64-linux-gnu/libvulkan.so.1",
                           "/usr/lib64/libvulkan.so.1"})
    if (void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL))
      return reinterpret_cast<GetAddress>(dlsym(library, "vkGetInstanceProcAddr"));
  return nullptr;
}

template <typename Name, typename Function> AnyFunction wrap(AnyFunction address) {
  using Wrapper = Wrapped<Name, Function>;
  Wrapper::real = reinterpret_cast<Function>(address);
  return reinterpret_cast<AnyFunction>(Wrapper::call);
}

#define NAME(name, result, ...)                                                                                        \
  struct Name_##name {                                                                                                 \
    static constexpr const char *text = #name;                                                                         \
  };
TALC_VULKAN_FUNCTIONS(NAME)
#undef NAME

}  // namespace

extern "C" __attribute__((visibility("default"))) AnyFunction vkGetInstanceProcAddr(Instance instance,
                                                                                    const char *name) {
  static const GetAddress real = findReal();
  AnyFunction address = real ? real(instance, name) : nullptr;
#define WRAP(function, result, ...)                                                                                    \
  if (address && strcmp(name, #function) == 0)                                                                         \
    return wrap<Name_##function, result (*)(__VA_ARGS__)>(address);
  TALC_VULKAN_FUNCTIONS(WRAP)
#undef WRAP
  return address;
}
