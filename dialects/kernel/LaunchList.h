// SPDX-License-Identifier: Apache-2.0
// The launches of a function that calls kernels, as an attribute: which kernels run, with which arguments.
#pragma once

#include "mlir/IR/Attributes.h"

namespace talc::kernel {

// On such a function, an array of {call = @name, arguments = [...], mark = index in talc.kernels, or missing, waits = 1
// if it needs results of earlier launches, or missing}. An argument is {base = "arena", fixed, per_token}, or
// {argument = 3, fixed, per_token}, which refers to a value that the function was passed.
constexpr llvm::StringLiteral launchesAttr = "kernel.launches";

namespace launchKeys {
constexpr llvm::StringLiteral call = "call", arguments = "arguments", mark = "mark", waits = "waits";
constexpr llvm::StringLiteral base = "base", argument = "argument", fixed = "fixed", perToken = "per_token";
}  // namespace launchKeys

// Names of bases, in the order of LaunchBase (runtime/device/gpu/LaunchTable.h).
constexpr llvm::StringLiteral baseNames[] = {
    "number",    "weights",   "states",    "arena",     "step",      "results",   "results 1",
    "results 2", "results 3", "results 4", "results 5", "results 6", "results 7", "wanted",
    "wanted 1",  "wanted 2",  "wanted 3",  "wanted 4",  "wanted 5",  "wanted 6",  "wanted 7"};

// Whether an attribute is such an array.
bool isLaunchList(mlir::Attribute value);

}  // namespace talc::kernel
