// SPDX-License-Identifier: Apache-2.0
// materialize-masks: lanes below the count, in vectors of both widths.
// RUN: talc-opt %s -materialize-masks -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @lanes8(
// CHECK-SAME: %[[COUNT:.*]]: index
// CHECK: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
// CHECK: %[[BOUND:.*]] = arith.index_cast %[[COUNT]] : index to i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[BOUND]] : i32 to vector<8xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %[[ALL]], %[[LANES]] : vector<8xi32>
// CHECK: return %[[MASK]]
func.func @lanes8(%count: index) -> vector<8xi1> {
  %mask = vector.create_mask %count : vector<8xi1>
  return %mask : vector<8xi1>
}

// CHECK-LABEL: func.func @inLoop(
// CHECK-NOT: create_mask
// CHECK: scf.for
// CHECK: arith.cmpi {{.*}} : vector<16xi32>
// CHECK: vector.maskedload
func.func @inLoop(%from: memref<?xf32>, %to: memref<?xf32>, %n: index, %step: index, %zeros: vector<16xf32>) {
  %zero = arith.constant 0 : index
  scf.for %i = %zero to %n step %step {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<16xi1>
    %row = vector.maskedload %from[%i], %mask, %zeros : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.maskedstore %to[%i], %mask, %row : memref<?xf32>, vector<16xi1>, vector<16xf32>
  }
  return
}

// A count that became known.
// CHECK-LABEL: func.func @known(
// CHECK: arith.constant dense<[true, true, true, false, false, false, false, false]> : vector<8xi1>
func.func @known() -> vector<8xi1> {
  %mask = vector.constant_mask [3] : vector<8xi1>
  return %mask : vector<8xi1>
}
