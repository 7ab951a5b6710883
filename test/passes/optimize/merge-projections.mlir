// SPDX-License-Identifier: Apache-2.0
// merge-projections joins projections of the same activations, with and without biases, and keeps apart what must be.
// RUN: talc-opt %s -merge-projections | FileCheck %s

talc.weight @late : tensor<8x32xf32> = #talc.fill<1.0>
talc.weight @wte : tensor<80x32xf32> = #talc.fill<1.0>

// Grouped heads: the key projection is narrower.
// CHECK-LABEL: @query_key_value
// CHECK-NEXT: %[[W:.*]] = talc.derive #talc.concat of(%arg1, %arg2, %arg3) : {{.*}} -> tensor<64x32xf32>
// CHECK-NEXT: %[[Y:.*]] = talc.linear %arg0, %[[W]] : {{.*}} -> tensor<?x64xf32>
// CHECK-NEXT: %[[Q:.*]] = talc.slice %[[Y]] at 0 : {{.*}} -> tensor<?x32xf32>
// CHECK-NEXT: %[[K:.*]] = talc.slice %[[Y]] at 32 : {{.*}} -> tensor<?x16xf32>
// CHECK-NEXT: %[[V:.*]] = talc.slice %[[Y]] at 48 : {{.*}} -> tensor<?x16xf32>
// CHECK-NEXT: return %[[Q]], %[[K]], %[[V]]
func.func @query_key_value(%x: tensor<?x32xf32>, %q: tensor<32x32xf32>, %k: tensor<16x32xf32>, %v: tensor<16x32xf32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %0 = talc.linear %x, %q : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %1 = talc.linear %x, %k : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32>
  %2 = talc.linear %x, %v : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32>
  return %0, %1, %2 : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: @missing_bias
// CHECK: %[[ZEROS:.*]] = talc.derive #talc.fill<0.000000e+00> of() : () -> tensor<16xf32>
// CHECK: %[[B:.*]] = talc.derive #talc.concat of(%arg3, %[[ZEROS]]) : {{.*}} -> tensor<48xf32>
// CHECK: talc.linear %arg0, %{{.*}} bias %[[B]]
func.func @missing_bias(%x: tensor<?x32xf32>, %q: tensor<32x32xf32>, %k: tensor<16x32xf32>, %b: tensor<32xf32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>) {
  %0 = talc.linear %x, %q bias %b : (tensor<?x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  %1 = talc.linear %x, %k : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x16xf32>
}

// A weight that is fetched after the first projection moves before it.
// CHECK-LABEL: @late_weight
// CHECK: %[[LATE:.*]] = talc.get_weight @late
// CHECK-NEXT: %[[W:.*]] = talc.derive #talc.concat of(%arg1, %[[LATE]])
// CHECK-NEXT: talc.linear %arg0, %[[W]]
func.func @late_weight(%x: tensor<?x32xf32>, %q: tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<?x8xf32>) {
  %0 = talc.linear %x, %q : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %a = talc.activation relu %0 : tensor<?x32xf32>
  %w = talc.get_weight @late : tensor<8x32xf32>
  %1 = talc.linear %x, %w : (tensor<?x32xf32>, tensor<8x32xf32>) -> tensor<?x8xf32>
  return %a, %1 : tensor<?x32xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @single
// CHECK-NEXT: talc.linear %arg0, %arg1 :
func.func @single(%x: tensor<?x32xf32>, %q: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = talc.linear %x, %q : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// CHECK-LABEL: @different_x
// CHECK-NOT: concat
func.func @different_x(%x: tensor<?x32xf32>, %q: tensor<32x32xf32>, %k: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = talc.linear %x, %q : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %1 = talc.linear %0, %k : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// CHECK-LABEL: @different_elements
// CHECK-NOT: concat
func.func @different_elements(%x: tensor<?x32xf32>, %q: tensor<32x32xf32>, %k: tensor<32x32xbf16>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %0 = talc.linear %x, %q : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %1 = talc.linear %x, %k : (tensor<?x32xf32>, tensor<32x32xbf16>) -> tensor<?x32xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}

// A table that the embedding reads too would be stored twice.
// CHECK-LABEL: @shared_weight
// CHECK-NOT: concat
func.func @shared_weight(%ids: tensor<?xi32>, %q: tensor<32x32xf32>) -> (tensor<?x80xf32>, tensor<?x32xf32>) {
  %wte = talc.get_weight @wte : tensor<80x32xf32>
  %x = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
  %0 = talc.linear %x, %wte : (tensor<?x32xf32>, tensor<80x32xf32>) -> tensor<?x80xf32>
  %1 = talc.linear %x, %q : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %0, %1 : tensor<?x80xf32>, tensor<?x32xf32>
}
