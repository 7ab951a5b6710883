// SPDX-License-Identifier: Apache-2.0
// Names of discardable attributes of the kernel dialect; KernelAttributeTable.cpp says what may carry them.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace talc::kernel {

// On the functions that outline-kernels makes: the name of the compute op inside, for reports.
constexpr llvm::StringLiteral kernelOpAttr = "kernel.op";

// On an allocation: every thread has its own.
constexpr llvm::StringLiteral perThreadAttr = "kernel.per_thread";

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

}  // namespace talc::kernel
