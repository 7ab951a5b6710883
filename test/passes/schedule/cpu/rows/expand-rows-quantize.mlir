// SPDX-License-Identifier: Apache-2.0
// expand-rows: rows are rounded several blocks at a time, whose scales and sums are made in the lanes of one vector.
// RUN: talc-opt %s -expand-rows=lanes=16 -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -expand-rows=lanes=8 -canonicalize -cse | FileCheck %s

// Four blocks of 32 have a scale each; what four do not divide goes one by one.
// CHECK-LABEL: @blocks(
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c128
// CHECK-COUNT-4: vector.load %{{.*}} : memref<?x288xf32>, vector<32xf32>
// CHECK-NOT: vector.load
// CHECK: arith.divf %{{.*}} : vector<4xf32>
// CHECK: arith.divf %{{.*}} : vector<4xf32>
// CHECK-NOT: arith.divf
// CHECK-COUNT-4: math.roundeven %{{.*}} : vector<32xf32>
// CHECK-NOT: math.roundeven
//
// Sums of halves, then of all, join what they are made of lane by lane.
// CHECK: %[[HALVES:.*]] = arith.addi %{{.*}} : vector<8xi32>
// CHECK: %[[ALL:.*]] = arith.addi %{{.*}} : vector<4xi32>
// CHECK: vector.shuffle %[[ALL]], %[[HALVES]] [0, 4, 1, 6, 2, 8, 3, 10]
// CHECK: vector.load %{{.*}} : memref<?x288xf32>, vector<32xf32>
// CHECK-NOT: vector.load
// CHECK: arith.divf %{{.*}} : vector<1xf32>
// CHECK: return
func.func @blocks(%s: !kernel.step, %x: memref<?x288xf32>, %y: memref<?x288x!talc.stored<q8_sums>>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%row: index, %end: index):
    kernel.quantize %s, %x into %y : (!kernel.step, memref<?x288xf32>, memref<?x288x!talc.stored<q8_sums>>) -> ()
  }
  return
}

// Eight share one.
// CHECK-LABEL: @joint(
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c256
// CHECK-COUNT-8: vector.load %{{.*}} : memref<?x512xf32>, vector<32xf32>
// CHECK: arith.divf %{{.*}} : vector<1xf32>
// CHECK-COUNT-8: math.roundeven
// CHECK: arith.sitofp %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK-NOT: scf.for
// CHECK: return
func.func @joint(%s: !kernel.step, %x: memref<?x512xf32>, %y: memref<?x512x!talc.stored<q8_256_sums>>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%row: index, %end: index):
    kernel.quantize %s, %x into %y : (!kernel.step, memref<?x512xf32>, memref<?x512x!talc.stored<q8_256_sums>>) -> ()
  }
  return
}

// A block of 256 has the sums of all its halves in a field.
// CHECK-LABEL: @super(
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c256
// CHECK: arith.muli %{{.*}} : vector<16xi32>
// CHECK: arith.shrsi %{{.*}} : vector<8xi32>
// CHECK: return
func.func @super(%s: !kernel.step, %x: memref<?x512xf32>, %y: memref<?x512x!talc.stored<q8_k_sums>>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%row: index, %end: index):
    kernel.quantize %s, %x into %y : (!kernel.step, memref<?x512xf32>, memref<?x512x!talc.stored<q8_k_sums>>) -> ()
  }
  return
}
