// SPDX-License-Identifier: Apache-2.0
// What a function becomes before it is linked: a kernel, or a list of launches. Objects are binary, and the code cache
// keeps them one by one.
//
//   magic | kind | fields in the order of the struct: numbers of 64 bits, strings and arrays behind their length
#pragma once

#include "compiler/targets/ObjectCode.h"
#include "runtime/device/gpu/LaunchTable.h"

#include "llvm/Support/Error.h"

#include <string>
#include <variant>
#include <vector>

namespace talc::gpu {

struct KernelObject {
  std::string name;
  artifact::LaunchKernel kernel = {};  // name and module are not set yet
  uint32_t maxRegisters = 0;           // of a thread; 0: no limit
  std::string code;
  std::string taskCode;  // does one task, for persistent kernels; empty: there is none
};

// The value of an argument: a base or a value that the list was passed, + fixed + perToken * tokens of the step.
struct ListArgument {
  bool isValueOfList = false;
  uint32_t index = 0;  // of that value, or LaunchBase
  int64_t fixed = 0, perToken = 0;
};
struct ListLaunch {
  std::string callee;  // a kernel, or another list
  std::vector<ListArgument> arguments;
  uint32_t mark = UINT32_MAX, waits = 0;  // see artifact::Launch
};
struct LaunchList {
  std::string name;
  std::vector<ListLaunch> launches;
};

targets::ObjectCode serialize(const KernelObject &object);
targets::ObjectCode serialize(const LaunchList &object);
llvm::Expected<std::variant<KernelObject, LaunchList>> parseObject(const targets::ObjectCode &object);

}  // namespace talc::gpu
