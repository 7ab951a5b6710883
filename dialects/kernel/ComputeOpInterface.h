// SPDX-License-Identifier: Apache-2.0
// The interface of compute ops (ComputeOpInterface.td), and their costs.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <string>

#include "dialects/kernel/KernelEnums.h.inc"

namespace talc::kernel {

// The costs of an op in a step:
//   operations = perRow * rows + perPair * pairs
//   stored     = perCall + perRow * rows + perKey * keys      bytes of weights and KV caches
//   passed     = perRow * rows                                bytes of activations
// rows: the tokens that the op computes. pairs: (query, key that it sees), of all sequences. keys: tokens in the KV
// caches of the sequences, including those of the step. An add, a multiply, a comparison or a function counts as one
// operation; epilogues do not count. Every byte is counted once, as with perfect caches.
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

// The effects of an op that writes its inits and reads its other operands.
using ComputeOpEffects = llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;
void addComputeOpEffects(mlir::Operation *op, ComputeOpEffects &effects);

// Whether an op on buffers writes an operand.
bool writes(mlir::Operation *op, mlir::OpOperand &operand);

// The buffer that a compute op writes; null if it writes a KV cache.
mlir::Value getDestination(mlir::Operation *op);

// Makes ops of upstream dialects compute ops. (ops/Upstream.cpp)
void registerUpstreamComputeOps(mlir::DialectRegistry &registry);

}  // namespace talc::kernel

#include "dialects/kernel/ComputeOpInterface.h.inc"
