// SPDX-License-Identifier: Apache-2.0
// attach-isa-traits: the traits of the instruction set with vectors of so many lanes; a module that has some keeps them.
// RUN: talc-opt %s -attach-isa-traits="lanes=4" | FileCheck %s --check-prefix=NEON
// RUN: talc-opt %s -attach-isa-traits="lanes=16" -attach-isa-traits="lanes=8" | FileCheck %s
// RUN: not talc-opt %s -attach-isa-traits="lanes=6" 2>&1 | FileCheck %s --check-prefix=WIDTH

// NEON: kernel.isa = {converts_bf16, dots_accumulate, fma_from_lane, lanes = 4 : i64, registers = 32 : i64, signed_dots}
// CHECK: kernel.isa = {bf16_pairs, dots_accumulate, lanes = 16 : i64, memory_operands, registers = 32 : i64, scales_by_powers,
// WIDTH: vectors of 6 lanes
module {}
