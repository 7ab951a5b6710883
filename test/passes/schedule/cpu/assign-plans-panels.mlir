// SPDX-License-Identifier: Apache-2.0
// assign-plans: a panel is one stream of a single row, also one that was packed for wider vectors, and with 8 lanes of
// three.
// RUN: talc-opt %s -assign-plans | FileCheck %s
// RUN: talc-opt %s -assign-plans=lanes=16 | FileCheck %s --check-prefix=WIDE
// RUN: talc-opt %s -assign-plans='lanes=16 cache-bytes=1024' | FileCheck %s --check-prefix=FETCHED
// RUN: talc-opt %s -assign-plans='lanes=16 cache-bytes=1024 prefetches-streams' | FileCheck %s --check-prefix=FOLLOWED

// Hardware prefetchers follow small codes behind their scales, but not bytes. Of q6_k, which has its scales behind its
// codes, three rows prefetch.
// FETCHED-LABEL: @own
// FETCHED: fetch_ahead = 80, {{.*}} fetch_rows = 1,
// FETCHED-LABEL: @bytes
// FETCHED: fetch_ahead = 72, {{.*}} fetch_rows = 1,
// FETCHED-LABEL: @super
// FETCHED: fetch_ahead = {{[1-9]}}{{.*}} fetch_rows = 1,
// FETCHED-LABEL: @six
// FETCHED: fetch_ahead = {{[1-9]}}{{.*}} fetch_rows = 3,
// FOLLOWED-LABEL: @own
// FOLLOWED: fetch_ahead = 0,
// FOLLOWED-LABEL: @bytes
// FOLLOWED: fetch_ahead = 72,
// FOLLOWED-LABEL: @super
// FOLLOWED: fetch_ahead = 0,
// FOLLOWED-LABEL: @six
// FOLLOWED: fetch_ahead = {{[1-9]}}{{.*}} fetch_rows = 3,

// A row takes two panels of 16 columns. Two or three rows take one, and prefetch it, too; four take half of one.
// CHECK-LABEL: @own
// CHECK: fetch_rows = 3, {{.*}} row_columns = 32, {{.*}} tall_rows = 4, {{.*}} tile_columns = 16, tile_rows = 3,
// WIDE-LABEL: @own
// WIDE: fetch_rows = 1, {{.*}} row_columns = 64, {{.*}} tile_columns = 32,
func.func @own(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_256_sums>>, %w: memref<4x256x16x!talc.stored<q4_0>>,
               %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_256_sums>>, memref<4x256x16x!talc.stored<q4_0>>, memref<?x64xf32>) -> ()
  }
  return
}

// Two rows take pieces of it, which would be streams with gaps.
// CHECK-LABEL: @wider
// CHECK: fetch_rows = 1, {{.*}} row_columns = 64, {{.*}} tile_columns = 16, tile_rows = 3,
// WIDE-LABEL: @wider
// WIDE: row_columns = 64, {{.*}} tile_columns = 32,
func.func @wider(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_256_sums>>, %w: memref<1x256x64x!talc.stored<q4_0>>,
                 %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_256_sums>>, memref<1x256x64x!talc.stored<q4_0>>, memref<?x64xf32>) -> ()
  }
  return
}

// Levels up to 127 become sums of 32 bits at once: a vector of them is for four rows, and two rows take a panel.
// CHECK-LABEL: @bytes
// CHECK: fetch_rows = 2, {{.*}} tall_rows = 0, {{.*}} tile_columns = 8, tile_rows = 4,
func.func @bytes(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_sums>>, %w: memref<4x256x16x!talc.stored<q8_0>>,
                 %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_sums>>, memref<4x256x16x!talc.stored<q8_0>>, memref<?x64xf32>) -> ()
  }
  return
}

// Codes of k-quants up to 31 are small, those up to 63 are not.
// CHECK-LABEL: @super
// CHECK: tall_rows = 4, {{.*}} tile_columns = 16, tile_rows = 3,
// CHECK-LABEL: @six
// CHECK: tall_rows = 0, {{.*}} tile_columns = 8, tile_rows = 4,
func.func @super(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_k_sums>>, %w: memref<4x256x16x!talc.stored<q5_k>>,
                 %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_k_sums>>, memref<4x256x16x!talc.stored<q5_k>>, memref<?x64xf32>) -> ()
  }
  return
}
func.func @six(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_k_sums>>, %w: memref<4x256x16x!talc.stored<q6_k>>,
               %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_k_sums>>, memref<4x256x16x!talc.stored<q6_k>>, memref<?x64xf32>) -> ()
  }
  return
}

// Rows in the same set of L1 cannot be a tall tile, but four of them can.
// CHECK-LABEL: @apart
// CHECK: tall_rows = 4, {{.*}} tile_columns = 16, tile_rows = 3,
// WIDE-LABEL: @apart
// WIDE: tall_rows = 0, {{.*}} tile_columns = 32, tile_rows = 6,
func.func @apart(%s: !kernel.step, %x: memref<?x8192x!talc.stored<q8_256_sums>>, %w: memref<1x8192x64x!talc.stored<q4_0>>,
                 %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x8192x!talc.stored<q8_256_sums>>, memref<1x8192x64x!talc.stored<q4_0>>, memref<?x64xf32>) -> ()
  }
  return
}
