// SPDX-License-Identifier: Apache-2.0
// convert-talc-to-kernel: functions with several results, and the operations of backward functions.
// RUN: talc-opt %s --convert-talc-to-kernel | FileCheck %s

talc.weight @w : tensor<12x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>

// Each result has a destination of its own.
// CHECK-LABEL: func.func private @forward(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32>, %[[A:[a-z0-9]+]]: tensor<?x8xf32>, %[[B:[a-z0-9]+]]: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK-DAG: %[[FIRST:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[A]]
// CHECK-DAG: %[[SECOND:.*]] = bufferization.materialize_in_destination %[[X]] in %[[B]]
// CHECK: return %[[FIRST]], %[[SECOND]]
func.func private @forward(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = talc.add %x, %x : tensor<?x8xf32>
  return %0, %x : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @weights(
func.func @weights(%x: tensor<?x8xf32>, %g: tensor<?x12xf32>, %ids: tensor<?xi32>, %s: !talc.sequences) {
  // CHECK: %{{.*}}:2 = call @forward(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  %y:2 = call @forward(%x) : (tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  // CHECK: %[[W:.*]] = kernel.gradient %{{.*}} @w : memref<12x8xf32>
  %w = talc.get_gradient @w : memref<12x8xf32>
  // CHECK: kernel.linear_wgrad %{{.*}} into %[[W]]
  talc.linear_wgrad %g, %y#1 into %w : tensor<?x12xf32>, tensor<?x8xf32>, memref<12x8xf32>
  // CHECK: kernel.scatter_add ids %{{.*}}, %{{.*}} plus -3 into %[[W]]
  talc.embedding_wgrad %ids, %x into %w {first = 3} : tensor<?xi32>, tensor<?x8xf32>, memref<12x8xf32>
  // CHECK: kernel.scatter_add positions %{{.*}}, %{{.*}} plus 2 into %[[W]]
  talc.position_wgrad %s, %x into %w {offset = 2} : tensor<?x8xf32>, memref<12x8xf32>
  // CHECK: kernel.scatter_add types %{{.*}}, %{{.*}} plus 0 into %[[W]]
  talc.token_type_wgrad %s, %x into %w : tensor<?x8xf32>, memref<12x8xf32>
  return
}

// The gradients of queries, keys and values are parts of one tensor.
// CHECK-LABEL: func.func private @attention(
func.func private @attention(%g: tensor<?x8xf32>, %k: tensor<?x4xf32>, %s: !talc.sequences) -> (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: %[[ALL:.*]] = kernel.attention_dgrad causal %{{.*}} heads 4, 2 scale 5.000000e-01 window 0 cap 0.000000e+00 into %{{.*}} -> tensor<?x16xf32>
  // CHECK: tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1]
  // CHECK: tensor.extract_slice %[[ALL]][0, 8] [%{{.*}}, 4] [1, 1]
  // CHECK: tensor.extract_slice %[[ALL]][0, 12] [%{{.*}}, 4] [1, 1]
  %0, %1, %2 = talc.attention_dgrad causal %g, %g, %k, %k, %s heads 4, 2 scale 0.5 : tensor<?x8xf32>, tensor<?x4xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @derivative(
func.func private @derivative(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.cmpf ogt
  // CHECK: arith.select
  // CHECK: arith.mulf
  %0 = talc.activation_dgrad relu %g, %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// The derivative of softplus is the sigmoid.
// CHECK-LABEL: func.func private @sigmoid(
func.func private @sigmoid(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: math.exp
  // CHECK: %[[SIGMOID:.*]] = arith.divf
  // CHECK: arith.mulf %{{.*}}, %[[SIGMOID]]
  %0 = talc.activation_dgrad softplus %g, %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
