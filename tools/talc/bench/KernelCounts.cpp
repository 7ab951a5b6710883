// SPDX-License-Identifier: Apache-2.0
// The fields that rows of measured and of emulated kernels have in common.
#include "tools/talc/bench/KernelCounts.h"

namespace talc::bench {

nlohmann::ordered_json describeCounts(const KernelResult &result) {
  const KernelEntry &kernel = *result.kernel;
  return {{"phase", kernel.phase},
          {"kernel", kernel.name},
          {"piece", kernel.piece},
          {"shapes", kernel.shapes},
          {"fused", kernel.fused},
          {"share", kernel.share},
          {"calls", kernel.calls},
          {"operations", static_cast<int64_t>(result.costs.operations)},
          {"stored_bytes", static_cast<int64_t>(result.costs.storedBytes)},
          {"passed_bytes", static_cast<int64_t>(result.costs.passedBytes)},
          {"spills", kernel.spills}};
}

}  // namespace talc::bench
