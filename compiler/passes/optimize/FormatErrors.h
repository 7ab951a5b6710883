// SPDX-License-Identifier: Apache-2.0
// What a format makes of the values of matrices.
#pragma once

#include "compiler/artifact/WeightGraph.h"
#include "compiler/passes/optimize/FormatUnits.h"

namespace talc {

struct FormatCost {
  FormatRef format;
  int64_t bits;  // of all values
  // The share of what the matrices yield that rounding changes, squared, once for each value; or how far predictions
  // diverge by it, where the matrices say so. A table counts at least as much as all matrices together that are only
  // multiplied; one that is also the head is a table.
  double error;
};

// Of every one of `formats`; a matrix whose rows are no whole blocks is stored in the next larger one. The matrices of
// the model but for tables have `multiplied` values.
llvm::Expected<std::vector<FormatCost>> measureFormats(const FormatUnit &unit, llvm::ArrayRef<FormatRef> formats,
                                                       int64_t multiplied, WeightGraph &graph);

}  // namespace talc
