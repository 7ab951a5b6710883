// SPDX-License-Identifier: Apache-2.0
// A compiled model that is measured.
#pragma once

#include "tools/talc/bench/KernelList.h"
#include "tools/talc/bench/ModelRun.h"

namespace talc::bench {

struct App {
  std::string path;
  KernelList list;  // as the compiler counted
  ModelRun run;
};

}  // namespace talc::bench
