// SPDX-License-Identifier: Apache-2.0
// The values of weights that do not depend on other weights.
#pragma once

#include "compiler/artifact/weights/MappedFile.h"
#include "compiler/artifact/weights/WeightValues.h"
#include "dialects/talc/LookupSource.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace talc {

// Row-major values from byte `offset` on, which lie inside the file; rows are whole blocks.
WeightValuesPtr fileValues(std::shared_ptr<const MappedFile> file, int64_t offset, const StorageFormat &format,
                           MatrixShape shape);
// Element i is mean + deviation * randomUniform(seed, i).
WeightValuesPtr randomValues(uint64_t seed, double mean, double deviation, MatrixShape shape);
WeightValuesPtr fillValues(float value, MatrixShape shape);
// Row-major, as many values as the shape has.
WeightValuesPtr listedValues(std::vector<float> values, MatrixShape shape);

using FileOpener = llvm::function_ref<llvm::Expected<std::shared_ptr<const MappedFile>>(llvm::StringRef path)>;

// The values of a #talc.quantized. Errors say what is wrong with `weight`. Columns are checked to have groups that
// exist.
llvm::Expected<WeightValuesPtr> quantizedValues(WeightOp weight, QuantizedSourceAttr source, FileOpener open);
// Likewise, of a #talc.lookup.
llvm::Expected<WeightValuesPtr> lookedUpValues(WeightOp weight, LookupSourceAttr source, FileOpener open);

}  // namespace talc
