// SPDX-License-Identifier: Apache-2.0
// Declares the passes of Passes.td: their create* functions and options.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace talc {

#define GEN_PASS_DECL
#include "compiler/passes/Passes.h.inc"

}  // namespace talc
