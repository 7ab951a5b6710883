// SPDX-License-Identifier: Apache-2.0
// The caches of the processor, as the system describes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc::bench {

struct Cache {
  int level;
  int64_t bytes;
  int64_t sharedBy;  // processors
};

// Data caches of the first processor by ascending level; empty where the system does not tell.
std::vector<Cache> detectCaches();

// "AMD EPYC 7763 64-Core Processor", or where the system does not tell LLVM's name: "neoverse-n1".
std::string processorName();

}  // namespace talc::bench
