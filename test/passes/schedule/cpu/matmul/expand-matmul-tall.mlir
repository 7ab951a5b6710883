// SPDX-License-Identifier: Apache-2.0
// expand-matmul: more rows than a full tile's are one tall tile, where the plan has such.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s

// Seven and eight rows of panels as wide as a tile are one tile of two halves, each of which fetches half of the next
// panel: 32 elements for each k, whatever the rows.
// CHECK-LABEL: @tall(
// CHECK: case 7 {
// CHECK: scf.for %[[PIECE:.*]] = %c0 to %c2 step %c1 {
// CHECK: %[[LANE:.*]] = arith.muli %[[PIECE]], %c32
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK: memref.prefetch %arg2[
// CHECK: case 8 {
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
func.func @tall(%s: !kernel.step, %x: memref<?x8xf32>, %w: memref<3x8x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x8xf32>, memref<3x8x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}
