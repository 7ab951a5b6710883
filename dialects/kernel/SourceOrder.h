// SPDX-License-Identifier: Apache-2.0
// Kernels whose instructions have a good order already.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace talc::kernel {

// On a function whose tiles fill the registers: until these are allocated, instructions stay as talc's passes order
// them, and chains of sums stay chains. LLVM's scheduler would bring loads and products forward, and its combiner make
// trees of chains; both have more values in registers side by side, which are spilled.
constexpr llvm::StringLiteral keepsSourceOrderAttr = "kernel.keeps_source_order";

}  // namespace talc::kernel
