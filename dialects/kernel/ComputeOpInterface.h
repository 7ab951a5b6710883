// SPDX-License-Identifier: Apache-2.0
// The interface of pieces (ComputeOpInterface.td), and what they answer.
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <string>

#include "dialects/kernel/KernelEnums.h.inc"

namespace talc::kernel {

// A step's costs follow from a few figures, each with its own factor:
//   operations = perRow * rows + perPair * pairs
//   stored     = perCall + perRow * rows + perKey * keys      bytes of weights and states
//   passed     = perRow * rows                                bytes of activations
// rows: those that the piece works on. pairs: of a query and a key that it sees, of all sequences. keys: tokens that
// the sequences hold, those of the step included. An add, a multiply, a comparison or a function counts as one
// operation; epilogues do not count. Every byte is counted once, as if caches were perfect.
struct OpCosts {
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

// The effects of a piece that writes its inits and reads its other operands.
using ComputeOpEffects = llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;
void addComputeOpEffects(mlir::Operation *piece, ComputeOpEffects &effects);

// Whether a piece on buffers writes an operand.
bool writes(mlir::Operation *piece, mlir::OpOperand &operand);

// The buffer that a piece writes; null if it writes a state.
mlir::Value getDestination(mlir::Operation *piece);

}  // namespace talc::kernel

#include "dialects/kernel/ComputeOpInterface.h.inc"
