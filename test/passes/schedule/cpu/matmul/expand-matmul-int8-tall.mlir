// SPDX-License-Identifier: Apache-2.0
// expand-matmul: eight rows of integers are one tile, of two vectors where levels take a shift and a mask.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s

// 16 accumulators leave registers for the sums of four rows: each half of the rows takes all words, then joins its sums.
// CHECK-LABEL: @halves(
// CHECK: case 8 {
// CHECK: scf.for %{{.*}} step %c32 iter_args(
// CHECK: memref.prefetch
// CHECK-COUNT-64: kernel.dot
// CHECK-NOT: kernel.dot
// CHECK: vector.fma
// CHECK-COUNT-64: kernel.dot
// CHECK-NOT: kernel.dot
// CHECK: vector.fma
// CHECK: scf.yield
// CHECK: return
func.func @halves(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_256_sums>>, %w: memref<2x256x64x!talc.stored<q4_0>>,
                  %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_256_sums>>, memref<2x256x64x!talc.stored<q4_0>>, memref<?x128xf32>) -> ()
  }
  return
}

// Levels that take more than that have one vector, whose eight rows take a word together.
// CHECK-LABEL: @fifth(
// CHECK: case 8 {
// CHECK: scf.for %{{.*}} step %c32 iter_args(
// CHECK-COUNT-64: kernel.dot
// CHECK-NOT: kernel.dot
// CHECK: scf.yield
// CHECK: return
func.func @fifth(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_256_sums>>, %w: memref<2x256x64x!talc.stored<q5_0>>,
                 %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_256_sums>>, memref<2x256x64x!talc.stored<q5_0>>, memref<?x128xf32>) -> ()
  }
  return
}
