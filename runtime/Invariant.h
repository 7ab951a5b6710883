// SPDX-License-Identifier: Apache-2.0
// Assertions that stay on in release builds: what one place of the runtime wrote is checked where another one relies on
// it, so that a defect ends a step with DEFECT and not with a wrong result. None stand in loops over values.
#pragma once

#include "runtime/Status.h"

namespace talc {

// The failure of an assertion. `place`: the function that found it; `claim`: what should have held there.
inline Status defect(const char *place, const char *claim) {
  return Status::failure(TALC_ERROR_DEFECT, "%s: not true that %s; this is a defect of talc, please report it", place,
                         claim);
}

inline Status require(bool holds, const char *place, const char *claim) {
  return __builtin_expect(holds, true) ? Status() : defect(place, claim);
}

}  // namespace talc
