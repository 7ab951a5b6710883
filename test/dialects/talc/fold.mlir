// SPDX-License-Identifier: Apache-2.0
// Operations of the talc dialect that are another value.
// RUN: talc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @whole_slice(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: return %[[X]]
func.func @whole_slice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = talc.slice %x at 0 : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @part_slice(
// CHECK-NEXT: talc.slice
func.func @part_slice(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %0 = talc.slice %x at 0 : tensor<?x8xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @scale_by_one(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: return %[[X]]
func.func @scale_by_one(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = talc.scale %x by 1.0 : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @scale_by_two(
// CHECK-NEXT: talc.scale
func.func @scale_by_two(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = talc.scale %x by 2.0 : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Nothing is lost of an append that nobody reads, nor is a read moved before it.
// CHECK-LABEL: func.func @append_stays(
// CHECK-NEXT: talc.kv_append
// CHECK-NEXT: talc.kv_read
// CHECK-NEXT: talc.kv_append
// CHECK-NEXT: return
func.func @append_stays(%state: !talc.kv_cache<1 x 8 x 4>, %x: tensor<?x8xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  talc.kv_append %state, %x, %x, %s : !talc.kv_cache<1 x 8 x 4>, tensor<?x8xf32>
  %keys, %values = talc.kv_read %state, %s : !talc.kv_cache<1 x 8 x 4> -> tensor<?x8xf32>, tensor<?x8xf32>
  talc.kv_append %state, %x, %x, %s : !talc.kv_cache<1 x 8 x 4>, tensor<?x8xf32>
  return %keys : tensor<?x8xf32>
}
