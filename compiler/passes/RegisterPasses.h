// SPDX-License-Identifier: Apache-2.0
// Registers the passes of Passes.td by their names, for tools that take passes as options.
#pragma once

#include "compiler/passes/Passes.h"

namespace talc {

#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

}  // namespace talc
