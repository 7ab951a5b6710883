// SPDX-License-Identifier: Apache-2.0
// The shapes that kernel.experts refuses.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @experts_slots(%s: !kernel.step, %x: memref<?x24xf32>, %routes: memref<?x4xf32>, %w: memref<12x24x32xf32>, %y: memref<?x80xf32>) {
  // expected-error@+1 {{has 5 slots for 4 experts}}
  kernel.experts %s, %x routes %routes, %w slots 5 into %y gated {
  ^bb0(%gate: f32, %up: f32):
    kernel.yield %gate : f32
  } : (!kernel.step, memref<?x24xf32>, memref<?x4xf32>, memref<12x24x32xf32>, memref<?x80xf32>) -> ()
  return
}

// -----

func.func @experts_panels(%s: !kernel.step, %x: memref<?x24xf32>, %routes: memref<?x4xf32>, %w: memref<11x24x32xf32>, %y: memref<?x80xf32>) {
  // expected-error@+1 {{number of panels is 11, expected 12}}
  kernel.experts %s, %x routes %routes, %w slots 2 into %y gated {
  ^bb0(%gate: f32, %up: f32):
    kernel.yield %gate : f32
  } : (!kernel.step, memref<?x24xf32>, memref<?x4xf32>, memref<11x24x32xf32>, memref<?x80xf32>) -> ()
  return
}

// -----

func.func @experts_width(%s: !kernel.step, %x: memref<?x24xf32>, %routes: memref<?x4xf32>, %w: memref<4x24x16xf32>, %y: memref<?x16xf32>) {
  // expected-error@+1 {{width of x is 24, expected 48}}
  kernel.experts %s, %x routes %routes, %w slots 2 into %y {
  ^bb0(%sum: f32, %route: f32, %before: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x24xf32>, memref<?x4xf32>, memref<4x24x16xf32>, memref<?x16xf32>) -> ()
  return
}

// -----

// Parts of a row begin at a block.
func.func @experts_blocks(%s: !kernel.step, %x: memref<?x64x!talc.stored<q8_sums>>, %routes: memref<?x4xf32>, %w: memref<4x16x16xf32>, %y: memref<?x16xf32>) {
  // expected-error@+1 {{sums 16 features, expected a multiple of the block size 32}}
  kernel.experts %s, %x routes %routes, %w slots 4 into %y {
  ^bb0(%sum: f32, %route: f32, %before: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x64x!talc.stored<q8_sums>>, memref<?x4xf32>, memref<4x16x16xf32>, memref<?x16xf32>) -> ()
  return
}

// -----

func.func @experts_epilogue(%s: !kernel.step, %x: memref<?x48xf32>, %routes: memref<?x4xf32>, %w: memref<4x24x16xf32>, %y: memref<?x16xf32>) {
  // expected-error@+1 {{has an epilogue of 2 arguments, expected 3 of f32}}
  kernel.experts %s, %x routes %routes, %w slots 2 into %y {
  ^bb0(%sum: f32, %route: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x48xf32>, memref<?x4xf32>, memref<4x24x16xf32>, memref<?x16xf32>) -> ()
  return
}
