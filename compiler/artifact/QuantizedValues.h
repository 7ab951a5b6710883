// SPDX-License-Identifier: Apache-2.0
// The values of a #talc.quantized.
#pragma once

#include "compiler/artifact/LowBitTensor.h"
#include "compiler/artifact/WeightValues.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace talc {

using FileOpener = llvm::function_ref<llvm::Expected<std::shared_ptr<const MappedFile>>(llvm::StringRef path)>;

// Errors say what is wrong with `weight`. Columns are checked to have groups that exist.
llvm::Expected<WeightValuesPtr> quantizedValues(WeightOp weight, QuantizedSourceAttr source, FileOpener open);

}  // namespace talc
