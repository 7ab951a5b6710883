// SPDX-License-Identifier: Apache-2.0
// expand-gradients: sums over tokens stay in registers, tokens ascending; attention goes over the keys twice.
// RUN: talc-opt %s -expand-gradients=lanes=8 -canonicalize -cse | FileCheck %s

// Rows 0 to 47 are a task of eight tiles; the others are one with a tile of 2 rows. Two vectors of 8 columns are side by
// side, and the rest of 4 columns has a mask.
// CHECK-LABEL: @linear_wgrad(
// CHECK: kernel.tasks %{{.*}} over heads by columns of(%c2)
// CHECK: scf.for %{{.*}} step %c6
// CHECK: %[[SUMS:.*]]:12 = scf.for %[[T:.*]] = %c0 to %{{.*}} step %c1 iter_args
// CHECK-COUNT-2: vector.load %arg2[%[[T]], %{{.*}}] : memref<?x20xf32>, vector<8xf32>
// CHECK: memref.load %arg1[%[[T]], %{{.*}}] : memref<?x50xf32>
// CHECK-COUNT-12: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-12: vector.store
// CHECK: scf.if
// CHECK: scf.for %{{.*}} iter_args(%{{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: vector.maskedload
func.func @linear_wgrad(%s: !kernel.step, %g: memref<?x50xf32>, %x: memref<?x20xf32>, %w: memref<50x20xf32>) {
  kernel.tasks %s over heads by columns {
  ^bb0(%part: index):
    kernel.linear_wgrad %s, %g, %x into %w : memref<?x50xf32>, memref<?x20xf32>, memref<50x20xf32>
  }
  return
}

// Columns n and n + 8 of the gradient are added to element n.
// CHECK-LABEL: @sum_rows(
// CHECK: kernel.tasks %{{.*}} over heads by columns of(%c1)
// CHECK: scf.for %[[T:.*]] = %c0 to %{{.*}} iter_args
// CHECK-COUNT-2: arith.addf
// CHECK: scf.yield
// CHECK: vector.store
func.func @sum_rows(%s: !kernel.step, %g: memref<?x16xf32>, %b: memref<8xf32>) {
  kernel.tasks %s over heads by columns {
  ^bb0(%part: index):
    kernel.sum_rows %s, %g into %b : memref<?x16xf32>, memref<8xf32>
  }
  return
}

// CHECK-LABEL: @scatter_add(
// CHECK: scf.for %[[T:.*]] = %c0
// CHECK: %[[ID:.*]] = kernel.id %{{.*}}[%[[T]]]
// CHECK: scf.if
// CHECK: vector.load %arg2[%{{.*}}, %{{.*}}] : memref<11x8xf32>
// CHECK: vector.store
func.func @scatter_add(%s: !kernel.step, %g: memref<?x8xf32>, %b: memref<11x8xf32>) {
  kernel.tasks %s over heads by columns {
  ^bb0(%part: index):
    kernel.scatter_add ids %s, %g plus 0 into %b : memref<?x8xf32>, memref<11x8xf32>
  }
  return
}

// CHECK-LABEL: @attention_dgrad(
// CHECK: kernel.tasks %{{.*}} over heads by heads of(%c2)
// CHECK: kernel.span_count
// CHECK: kernel.span
// CHECK: %{{.*}}:3 = scf.for %{{.*}} step %c8 iter_args
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: scf.for %{{.*}} step %c8 iter_args
// CHECK: math.exp
// CHECK: return
func.func @attention_dgrad(%s: !kernel.step, %g: memref<?x32xf32>, %k: memref<?x16xf32>, %y: memref<?x64xf32>) {
  kernel.tasks %s over heads by heads {
  ^bb0(%head: index):
    kernel.attention_dgrad causal %s, %g, %g, %k, %k heads 4, 2 scale 0.5 window 0 cap 0.0 into %y : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>, memref<?x16xf32>, memref<?x16xf32>, memref<?x64xf32>) -> ()
  }
  return
}
