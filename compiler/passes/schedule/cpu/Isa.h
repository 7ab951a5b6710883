// SPDX-License-Identifier: Apache-2.0
// The instruction sets that there are kernels for, and the one that a module is compiled for.
#pragma once

#include "compiler/passes/schedule/IsaTraits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <optional>

namespace talc {

// The instruction sets. With AVX-VNNI dot products accumulate, but convert-dots makes them of the same IR as of AVX2.
IsaTraits neonTraits();
IsaTraits avx2Traits();
IsaTraits avx512Traits();

// On modules, the instruction set that they are compiled for: {lanes = 16, registers = 32, bf16_pairs, ...}, a number for
// each size and a unit for each trait.
inline constexpr llvm::StringLiteral isaAttr = "kernel.isa";
mlir::DictionaryAttr isaAttribute(mlir::MLIRContext *context, const IsaTraits &traits);

// The traits that the module has; if it has none, those of the instruction set with vectors of `lanes` lanes. None, after
// an error: there is no such set.
std::optional<IsaTraits> getIsaTraits(mlir::ModuleOp module, int64_t lanes);

// A pass that writes the traits on the module.
std::unique_ptr<mlir::Pass> createAttachIsaTraits(const IsaTraits &traits);

}  // namespace talc
