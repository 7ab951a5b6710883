// SPDX-License-Identifier: Apache-2.0
// What one call of a kernel does, and how many operations and bytes it needs.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace talc {

// A step's costs follow from a few figures, each with its own factor:
//   operations = perRow * rows + perPair * pairs
//   stored     = perCall + perRow * rows + perKey * keys      bytes of weights and states
//   passed     = perRow * rows                                bytes of activations
// rows: those that the kernel works on. pairs: of a query and a key that it sees, of all sequences. keys: tokens that
// the sequences hold, those of the step included.
struct KernelCosts {
  struct {
    int64_t perRow = 0, perPair = 0;
  } operations;
  struct {
    int64_t perCall = 0, perRow = 0, perKey = 0;
  } stored;
  struct {
    int64_t perRow = 0;
  } passed;
};

// An add, a multiply, a comparison or a function counts as one operation; epilogues do not count.
KernelCosts costsOf(mlir::Operation *piece);

// "768 x 2304 f32": the sizes behind the rows.
std::string shapesOf(mlir::Operation *piece);

// "bias, gelu_tanh, residual": what a kernel computes beside its own subject; empty: nothing.
std::string fusedInto(mlir::Operation *piece);

}  // namespace talc
