// SPDX-License-Identifier: Apache-2.0
// Names of discardable attributes of the kernel dialect and of their keys; KernelAttributeTable.cpp says what may carry
// them.
#pragma once

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/StringRef.h"

namespace talc::kernel {

// On the functions that outline-kernels makes: the name of the compute op inside, for reports.
constexpr llvm::StringLiteral kernelOpAttr = "kernel.op";

// On an allocation: every worker has its own.
constexpr llvm::StringLiteral perWorkerAttr = "kernel.per_worker";

// On a module, until divide-work: its tasks are to be dynamic (see kernel.tasks). On a function that calls kernels: its
// barriers suffice for dynamic tasks.
constexpr llvm::StringLiteral dynamicScheduleAttr = "kernel.dynamic_schedule";

// On a function whose register tiles fill the registers: instructions keep the order in which talc's passes emit them
// until registers are allocated, and chains of sums stay chains. LLVM's scheduler would move loads and products
// forward, and its combiner would make trees of chains; both keep more values in registers at a time, which are
// spilled.
constexpr llvm::StringLiteral keepsSourceOrderAttr = "kernel.keeps_source_order";

// On a temporary, and on arguments of functions that receive it: the f16 or bf16 in which its f32 are stored, since
// nothing but matmuls by tensor cores reads them (narrow-activations).
constexpr llvm::StringLiteral narrowedAttr = "kernel.narrowed";

// On a function that calls kernels: its launches, an array of {call = @name, arguments = [...], mark = index in
// talc.kernels, or missing, waits = 1 if it needs results of earlier launches, or missing}. An argument is
// {base = "arena", fixed, per_token}, or {argument = 3, fixed, per_token}, which refers to a value that the function was
// passed.
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
