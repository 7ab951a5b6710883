// SPDX-License-Identifier: Apache-2.0
// Weights whose values do not follow from other weights. `name` is for messages.
#pragma once

#include "compiler/reference/Tensors.h"
#include "dialects/talc/LookupSource.h"

#include "llvm/Support/Error.h"

#include <string>

namespace talc::reference {

// A weight of this type whose values are still zero. Fails (WeightRecipe) for a type of more elements than the
// interpreter holds.
llvm::Expected<Weight> emptyWeight(const std::string &name, mlir::RankedTensorType type);

// Fails (WeightFile) for a file that cannot be read or ends too early.
llvm::Expected<Weight> readFile(const std::string &name, llvm::StringRef directory, FileSourceAttr source,
                                mlir::RankedTensorType type);
llvm::Expected<Weight> drawRandom(const std::string &name, RandomSourceAttr source, mlir::RankedTensorType type);
llvm::Expected<Weight> listValues(const std::string &name, ValuesSourceAttr source, mlir::RankedTensorType type);
// From codes and scales, by the definition of #talc.quantized. (QuantizedTables.cpp)
llvm::Expected<Weight> readQuantized(const std::string &name, llvm::StringRef directory, QuantizedSourceAttr source,
                                     mlir::RankedTensorType type);
// By the definition of #talc.lookup. (QuantizedTables.cpp)
llvm::Expected<Weight> readLookup(const std::string &name, llvm::StringRef directory, LookupSourceAttr source,
                                  mlir::RankedTensorType type);

}  // namespace talc::reference
