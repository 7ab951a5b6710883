// SPDX-License-Identifier: Apache-2.0
// expand-matmul: fifth bits of levels come to their places by a product, or without one where dot products multiply.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=8" -expand-matmul="lanes=8" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=NARROW

// NARROW-LABEL: @three(
// NARROW-NOT: arith.xori
// NARROW: arith.muli %{{.*}} : vector<8xi32>
// NARROW-NOT: arith.xori

// One row leaves the units that multiply time for products; of three rows, bits are exchanged once for all words.
// CHECK-LABEL: @one(
// CHECK: arith.muli %{{.*}} : vector<16xi32>
// CHECK-NOT: arith.xori
// CHECK-LABEL: @three(
// CHECK-NOT: arith.muli %{{.*}} : vector<16xi32>
// CHECK-COUNT-6: arith.xori
// CHECK-NOT: arith.xori
// CHECK: return
func.func @one(%s: !kernel.step, %x: memref<1x64x!talc.stored<q8_sums>>, %w: memref<1x64x16x!talc.stored<q5_0>>,
               %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64x!talc.stored<q8_sums>>, memref<1x64x16x!talc.stored<q5_0>>, memref<1x16xf32>) -> ()
  }
  return
}

func.func @three(%s: !kernel.step, %x: memref<3x64x!talc.stored<q8_sums>>, %w: memref<1x64x16x!talc.stored<q5_0>>,
                 %y: memref<3x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<3x64x!talc.stored<q8_sums>>, memref<1x64x16x!talc.stored<q5_0>>, memref<3x16xf32>) -> ()
  }
  return
}
