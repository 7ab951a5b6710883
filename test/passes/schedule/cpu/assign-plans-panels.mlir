// SPDX-License-Identifier: Apache-2.0
// assign-plans: a panel is one stream of a single row, also one that was packed for wider vectors.
// RUN: talc-opt %s -assign-plans | FileCheck %s
// RUN: talc-opt %s -assign-plans=lanes=16 | FileCheck %s --check-prefix=WIDE

// Of panels of 16 columns a row takes two. Two rows take one, and fetch it ahead, too.
// CHECK-LABEL: @own
// CHECK: fetch_rows = 2, {{.*}} row_columns = 32, {{.*}} tile_columns = 8,
// WIDE-LABEL: @own
// WIDE: fetch_rows = 1, {{.*}} row_columns = 64, {{.*}} tile_columns = 32,
func.func @own(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_256_sums>>, %w: memref<4x256x16x!talc.stored<q4_0>>,
               %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.contract %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_256_sums>>, memref<4x256x16x!talc.stored<q4_0>>, memref<?x64xf32>) -> ()
  }
  return
}

// Two rows take pieces of it, which would be streams with gaps.
// CHECK-LABEL: @wider
// CHECK: fetch_rows = 1, {{.*}} row_columns = 64, {{.*}} tile_columns = 8,
// WIDE-LABEL: @wider
// WIDE: row_columns = 64, {{.*}} tile_columns = 32,
func.func @wider(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_256_sums>>, %w: memref<1x256x64x!talc.stored<q4_0>>,
                 %out: memref<?x64xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.contract %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_256_sums>>, memref<1x256x64x!talc.stored<q4_0>>, memref<?x64xf32>) -> ()
  }
  return
}
