// SPDX-License-Identifier: Apache-2.0
// attach-isa-traits: the traits of the instruction set with vectors of so many lanes; a module that has some keeps them.
// RUN: talc-opt %s -attach-isa-traits="lanes=4" | FileCheck %s --check-prefix=NEON
// RUN: talc-opt %s -attach-isa-traits="lanes=16" -attach-isa-traits="lanes=8" | FileCheck %s
// RUN: not talc-opt %s -attach-isa-traits="lanes=6" 2>&1 | FileCheck %s --check-prefix=WIDTH

// NEON: kernel.isa = #kernel.isa<lanes = 4, registers = 32, fmaFromLane = true, memoryOperands = false,
// CHECK: kernel.isa = #kernel.isa<lanes = 16, registers = 32, fmaFromLane = false, memoryOperands = true,
// WIDTH: vectors of 6 lanes
module {}
