// SPDX-License-Identifier: Apache-2.0
// How the workers of a step come to their tasks.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace talc::kernel {

// On a module: workers take any task of a piece, whatever they did before, as workgroups of a GPU do; without it those
// that are divided alike find what they left themselves. On a function that calls kernels: its barriers suffice for
// such workers.
constexpr llvm::StringLiteral dynamicScheduleAttr = "kernel.dynamic_schedule";

}  // namespace talc::kernel
