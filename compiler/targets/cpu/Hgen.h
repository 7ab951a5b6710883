// SPDX-License-Identifier: Apache-2.0
// Runs hgen, the program that makes code with Halide.
#pragma once

#include "compiler/targets/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace talc::cpu {

// The code of the function `symbol`, which computes the product that contract-by-halide describes.
llvm::Expected<targets::ObjectCode> makeByHalide(llvm::StringRef symbol, mlir::DictionaryAttr product,
                                                 const CpuFacts &cpu);

}  // namespace talc::cpu
