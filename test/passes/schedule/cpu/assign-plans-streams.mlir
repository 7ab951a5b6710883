// SPDX-License-Identifier: Apache-2.0
// assign-plans: few rows take a large weight as a stream where the processor drops fetches that it has no room for.
// RUN: talc-opt %s -assign-plans="lanes=16 cache-bytes=65536 drops-prefetches" | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=16 cache-bytes=65536" | FileCheck %s --check-prefix=WAITS
// WAITS-COUNT-6: fetch_level = 2, {{.*}} fetch_rows = 1, {{.*}} stream_rows = 0,

// Seven and eight rows are two tiles of such a stream, and no tall one.
// CHECK-LABEL: @large
// CHECK: fetch_ahead = 128, fetch_first = 0, fetch_level = 1, {{.*}} fetch_rows = 6, {{.*}} stream_depth = 64, stream_rows = 24, tall_rows = 0,
func.func @large(%s: !kernel.step, %x: memref<?x128xf32>, %w: memref<3x128x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x128xf32>, memref<3x128x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}

// Multiply-adds take longer than half as wide a weight from two tiles on.
// CHECK-LABEL: @narrow
// CHECK: fetch_ahead = 128, fetch_first = 0, fetch_level = 1, {{.*}} fetch_rows = 6, {{.*}} stream_rows = 0,
func.func @narrow(%s: !kernel.step, %x: memref<?x128xf32>, %w: memref<3x128x64xbf16>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x128xf32>, memref<3x128x64xbf16>, memref<?x192xf32>) -> ()
  }
  return
}

// No block of about 16 KiB divides the depth.
// CHECK-LABEL: @prime
// CHECK: fetch_level = 1, {{.*}} stream_rows = 0, tall_rows = 8,
func.func @prime(%s: !kernel.step, %x: memref<?x127xf32>, %w: memref<3x127x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x127xf32>, memref<3x127x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}

// Two panels of 32 lanes are as much as one of 64: a block of k is that of both, and each of two tiles fetches a whole one.
// CHECK-LABEL: @pair
// CHECK: fetch_level = 1, fetch_next = 4, {{.*}} stream_depth = 64, stream_rows = 24, {{.*}} task_panels = 2,
func.func @pair(%s: !kernel.step, %x: memref<?x128xf32>, %w: memref<6x128x32xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x128xf32>, memref<6x128x32xf32>, memref<?x192xf32>) -> ()
  }
  return
}

// A tile of four rows has two pieces, which fetch half of the next panel's 18 lines each.
// CHECK-LABEL: @pieces
// CHECK: fetch_level = 1, fetch_next = 10, fetch_rows = 6, {{.*}} stream_rows = 0, tall_rows = 8,
func.func @pieces(%s: !kernel.step, %x: memref<?x128x!talc.stored<q8_sums>>, %w: memref<4x128x64x!talc.stored<q4_0>>, %out: memref<?x256xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x128x!talc.stored<q8_sums>>, memref<4x128x64x!talc.stored<q4_0>>, memref<?x256xf32>) -> ()
  }
  return
}

// A weight that stays in L2.
// CHECK-LABEL: @small
// CHECK: fetch_ahead = 0, fetch_first = 0, fetch_level = 2, {{.*}} fetch_rows = 1, {{.*}} stream_rows = 0,
func.func @small(%s: !kernel.step, %x: memref<?x8xf32>, %w: memref<3x8x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x8xf32>, memref<3x8x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}
