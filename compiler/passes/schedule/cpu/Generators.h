// SPDX-License-Identifier: Apache-2.0
// Other ways to code than a target's own passes and LLVM: what they leave in the program for each other.
//
//   assign-generators     func @contract_0 ... {kernel.generator = "halide"}
//   contract-by-halide    func private @contract_0_product(...) attributes {kernel.generator = "halide", kernel.product
//   = {...}}
//                         and calls of it
//   stage package         the generator makes the function's code from what the declaration says
#pragma once

#include "llvm/ADT/StringRef.h"

namespace talc {

// On kernels, and on declarations of functions that a generator makes: its name.
constexpr llvm::StringLiteral generatorAttr = "kernel.generator";
// On such a declaration: what it computes, a dictionary of numbers and strings.
constexpr llvm::StringLiteral productAttr = "kernel.product";

}  // namespace talc
