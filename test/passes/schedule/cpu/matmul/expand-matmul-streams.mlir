// SPDX-License-Identifier: Apache-2.0
// expand-matmul: few rows take a weight as a stream, where the plan says so.
// RUN: talc-opt %s '-assign-plans=lanes=16 plans={*: fetch_ahead = 16, fetch_level = 1, fetch_rows = 6, stream_rows = 24; stream: stream_depth = 4}' -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s

// A tile of two rows that is alone fetches its own stream: two steps are eight lines.
// CHECK-LABEL: @stream(
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: case 2 {
// CHECK: scf.for {{.*}} step %[[TWO]] {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK-COUNT-8: memref.prefetch %arg2[{{.*}}], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: case 3 {
// More rows than a tall tile's, up to 24, pass four k at a time, panel by panel; a tile has three at least.
// CHECK: arith.cmpi slt, %{{.*}}, %c9
// CHECK-NEXT: arith.cmpi sgt, %{{.*}}, %c24
// CHECK: case 7 {
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4
// CHECK: scf.index_switch
// CHECK-NEXT: case 0 {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: case 3 {
// Their results are fetched with the last of k.
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: memref.prefetch %arg3[{{.*}}], write
// CHECK: }
// CHECK-NOT: case 7 {
// CHECK: return
func.func @stream(%s: !kernel.step, %x: memref<?x8xf32>, %w: memref<3x8x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x8xf32>, memref<3x8x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}

// Up to three rows of integers are a tile of one slice. Four are two slices of 32 lanes, which prefetch the next panel: of 10
// lines at most an iteration fetches two, three, five or all.
// CHECK-LABEL: @pieces(
// CHECK: arith.cmpi slt, %{{.*}}, %c4
// CHECK: case 3 {
// CHECK: } else {
// CHECK: case 4 {
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK-COUNT-2: memref.prefetch {{.*}}, read, locality<3>, data : memref<9216xi8>
// CHECK: scf.if
// CHECK: memref.prefetch
// CHECK: scf.if
// CHECK-COUNT-2: memref.prefetch
// CHECK: scf.if
// CHECK-COUNT-5: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: kernel.dot
func.func @pieces(%s: !kernel.step, %x: memref<?x64x!talc.stored<q8_sums>>, %w: memref<4x64x64x!talc.stored<q4_0>>,
                  %out: memref<?x256xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x64x!talc.stored<q8_sums>>, memref<4x64x64x!talc.stored<q4_0>>, memref<?x256xf32>) -> ()
  }
  return
}
