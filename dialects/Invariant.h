// SPDX-License-Identifier: Apache-2.0
// Assertions of the compiler that stay on in release builds: what one place wrote is checked where another one relies on
// it, so that a defect ends the program with T0900 and not with wrong code. None stand in loops over values.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

namespace talc {

// Ends the program because of a defect of talc. `claim`: what should have held; `place`: the function that found it.
[[noreturn]] inline void endByDefect(const char *claim, const char *place = __builtin_FUNCTION()) {
  llvm::report_fatal_error(llvm::Twine(place) + ": not true that " + claim, /*gen_crash_diag=*/false);
}

inline void require(bool holds, const char *claim, const char *place = __builtin_FUNCTION()) {
  if (LLVM_UNLIKELY(!holds))
    endByDefect(claim, place);
}

}  // namespace talc
