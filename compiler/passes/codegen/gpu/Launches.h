// SPDX-License-Identifier: Apache-2.0
// Functions that call kernels, as attributes: which kernels with which arguments.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace talc {

// On such a function, an array of {call = @name, arguments = [...], mark = place in talc.kernels, or missing, waits = 1
// if it needs what launches before it left, or missing}. An argument is {base = "arena", fixed, per_token}, or
// {argument = 3, fixed, per_token}: a value that the function was given.
constexpr llvm::StringLiteral launchesAttr = "kernel.launches";

// On a kernel that is no function any more: how many values it is passed.
constexpr llvm::StringLiteral argumentsAttr = "kernel.arguments";

namespace launchKeys {
constexpr llvm::StringLiteral call = "call", arguments = "arguments", mark = "mark", waits = "waits";
constexpr llvm::StringLiteral base = "base", argument = "argument", fixed = "fixed", perToken = "per_token";
}  // namespace launchKeys

// What bases are called, in the order of LaunchBase (runtime/device/gpu/LaunchTable.h).
constexpr llvm::StringLiteral baseNames[] = {
    "number",    "weights",   "states",    "arena",     "step",      "results",   "results 1",
    "results 2", "results 3", "results 4", "results 5", "results 6", "results 7", "wanted",
    "wanted 1",  "wanted 2",  "wanted 3",  "wanted 4",  "wanted 5",  "wanted 6",  "wanted 7"};

}  // namespace talc
