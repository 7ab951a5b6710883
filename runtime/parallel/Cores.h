// SPDX-License-Identifier: Apache-2.0
// How many processors this process may use, by affinity and by the CPU quota of its control group.
#pragma once

#include <cstdint>

namespace talc {

// Hardware threads, at least 1.
int32_t usableProcessors();

// Physical cores among them, at least 1: the second hardware thread of a core adds little to arithmetic.
int32_t usableCores();

}  // namespace talc
