// SPDX-License-Identifier: Apache-2.0
// C++ classes of GradientOps.td, which only passes that lower, place and expand gradients need.
//
// Two kinds of compute ops follow from a backward function:
//   kernel.*_dgrad   writes its init, as the compute ops of forward functions do, and like them is divided by rows or
//                    heads
//   kernel.*_wgrad   adds to the buffer of a weight (kernel.gradient) and has no init; so do sum_rows and scatter_add
//
// The buffers of a model follow each other, in the order of weights, each from a multiple of 64 bytes on; plan-memory
// gives kernel.gradient its offset. The caller of a step passes their memory (StepContext::gradients), together with
// labels and the factor of the loss.
//
// Both read values that forward functions return beside their result (differentiate).
//
// Buffers outlive a step. All numbers of a buffer are sums over tokens, which continue what the buffer holds, tokens
// ascending: they are divided among workers, tokens never are. So results have the same bits on any number of workers,
// and however the tokens of an optimizer step are divided among steps.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc::kernel {

// The effects of an op that adds to a buffer and reads its other operands.
void addWgradEffects(mlir::Operation *op, mlir::OpOperand &buffer, ComputeOpEffects &effects);

}  // namespace talc::kernel

#define GET_OP_CLASSES
#include "dialects/kernel/gradients/GradientOps.h.inc"
