// SPDX-License-Identifier: Apache-2.0
// Writes the Weights section: every placed weight, evaluated and streamed in the order of the section.
#pragma once

#include "compiler/artifact/weights/WeightGraph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace talc {

// The alignment of weights in the Weights section, in bytes.
constexpr int64_t weightAlignment = 64;

struct PlacedWeight {
  WeightOp weight;
  int64_t offset, bytes;
};

// All weights with an offset, in ascending order. Checks that they are aligned, do not overlap, and end at or before
// `sectionBytes`.
llvm::Expected<std::vector<PlacedWeight>> placedWeights(mlir::ModuleOp module, int64_t sectionBytes);

// Receives the section's bytes in order.
using ByteSink = llvm::function_ref<llvm::Error(llvm::ArrayRef<uint8_t>)>;

// Sends exactly `sectionBytes` bytes, with zeros between weights. Takes a few MiB of memory per thread of the module's
// context.
llvm::Error streamWeights(mlir::ModuleOp module, llvm::ArrayRef<PlacedWeight> weights, int64_t sectionBytes,
                          ByteSink sink);

}  // namespace talc
