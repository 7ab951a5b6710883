// SPDX-License-Identifier: Apache-2.0
// differentiate: a layer function becomes two, and the model computes the loss of its labels and the gradients of weights.
// RUN: talc-opt %s --split-input-file --verify-diagnostics --differentiate="smoothing=0.1 recompute=none" | FileCheck %s
// RUN: talc-opt %s --split-input-file --verify-diagnostics --differentiate | FileCheck %s --check-prefix=CHEAP
// RUN: not talc-opt %s --split-input-file --differentiate=recompute=all 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: cannot recompute 'all', expected cheap or none

// The activation is computed again.
// CHEAP-LABEL: func.func private @layer.forward(
// CHEAP-SAME: -> (tensor<?x8xf32>, tensor<?x12xf32>)
// CHEAP-LABEL: func.func private @layer.backward(
// CHEAP-SAME: %[[KEPT:[a-z0-9]+]]: tensor<?x12xf32>, %{{[a-z0-9]+}}: memref<12x8xf32>
// CHEAP: %[[AGAIN:.*]] = talc.activation silu %[[KEPT]]
// CHEAP: talc.linear_wgrad %{{.*}}, %[[AGAIN]] into

// Without that it is kept, like its input: rules read both. The input of the first linear is an argument.
// CHECK-LABEL: func.func private @layer.forward(
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<?x12xf32>, tensor<?x12xf32>)
// CHECK-DAG: %[[A:.*]] = talc.linear %arg0, %arg1
// CHECK-DAG: %[[B:.*]] = talc.activation silu %[[A]]
// CHECK: return %{{.*}}, %[[A]], %[[B]]
// CHECK-LABEL: func.func private @layer.backward(
// CHECK-SAME: %[[G:.*]]: tensor<?x8xf32>, %[[X:.*]]: tensor<?x8xf32>, %[[UP:.*]]: tensor<12x8xf32>, %[[DOWN:.*]]: tensor<8x12xf32>, %[[KEPT:.*]]: tensor<?x12xf32>, %[[KEPT2:.*]]: tensor<?x12xf32>, %[[DUP:.*]]: memref<12x8xf32>, %[[DDOWN:.*]]: memref<8x12xf32>
// CHECK-SAME: -> tensor<?x8xf32>
// CHECK: %[[GB:.*]] = talc.linear_dgrad %[[G]], %[[DOWN]]
// CHECK: talc.linear_wgrad %[[G]], %[[KEPT2]] into %[[DDOWN]]
// CHECK: %[[GA:.*]] = talc.activation_dgrad silu %[[GB]], %[[KEPT]]
// CHECK: %[[GX:.*]] = talc.linear_dgrad %[[GA]], %[[UP]]
// CHECK: %[[SUM:.*]] = talc.add %[[G]], %[[GX]]
// CHECK: talc.linear_wgrad %[[GA]], %[[X]] into %[[DUP]]
// CHECK: return %[[SUM]]

// Both uses of the table add to its buffer.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[LABELS:[a-z0-9]+]]: tensor<?xi32>) -> tensor<?x1xf32> attributes {talc.entry, talc.entry_name = "train"}
// CHECK: %[[FORWARD:.*]]:3 = call @layer.forward
// CHECK: %[[LOGITS:.*]] = talc.linear %[[FORWARD]]#0, %[[TABLE:.*]] :
// CHECK: %[[LOSS:.*]], %[[DLOGITS:.*]] = talc.cross_entropy %[[LOGITS]], %[[LABELS]] {smoothing = 1.000000e-01 : f64}
// CHECK: %[[DX:.*]] = talc.linear_dgrad %[[DLOGITS]], %[[TABLE]]
// CHECK: %[[DTABLE:.*]] = talc.get_gradient @table : memref<11x8xf32>
// CHECK: talc.linear_wgrad %[[DLOGITS]], %[[FORWARD]]#0 into %[[DTABLE]]
// CHECK: %[[DE:.*]] = call @layer.backward(%[[DX]], %{{.*}}, %{{.*}}, %{{.*}}, %[[FORWARD]]#1, %[[FORWARD]]#2, %{{.*}}, %{{.*}})
// CHECK: talc.embedding_wgrad %{{.*}}, %[[DE]] into %[[DTABLE]]
// CHECK: return %[[LOSS]]
// CHECK-NOT: func.func private @layer(
talc.weight @table : tensor<11x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
talc.weight @up : tensor<12x8xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 1.0>
talc.weight @down : tensor<8x12xf32> = #talc.random<seed = 3, mean = 0.0, deviation = 1.0>
func.func private @layer(%x: tensor<?x8xf32>, %up: tensor<12x8xf32>, %down: tensor<8x12xf32>) -> tensor<?x8xf32> {
  %a = talc.linear %x, %up : (tensor<?x8xf32>, tensor<12x8xf32>) -> tensor<?x12xf32>
  %b = talc.activation silu %a : tensor<?x12xf32>
  %c = talc.linear %b, %down : (tensor<?x12xf32>, tensor<8x12xf32>) -> tensor<?x8xf32>
  %y = talc.add %x, %c : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @model(%ids: tensor<?xi32>, %seq: !talc.sequences) -> tensor<?x11xf32> attributes {talc.entry} {
  %table = talc.get_weight @table : tensor<11x8xf32>
  %up = talc.get_weight @up : tensor<12x8xf32>
  %down = talc.get_weight @down : tensor<8x12xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<11x8xf32>) -> tensor<?x8xf32>
  %y = call @layer(%x, %up, %down) : (tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>) -> tensor<?x8xf32>
  %logits = talc.linear %y, %table : (tensor<?x8xf32>, tensor<11x8xf32>) -> tensor<?x11xf32>
  return %logits : tensor<?x11xf32>
}

// -----

// A table that follows from a formula is not trained, and nothing before the first trained weight has a gradient.
// CHECK-LABEL: func.func @frozen(
// CHECK: talc.cross_entropy
// CHECK-NOT: dgrad
// CHECK: talc.linear_wgrad
// CHECK-NOT: dgrad
// CHECK: return
talc.weight @ones : tensor<11x8xf32> = #talc.sinusoid_table<halves>
talc.weight @head : tensor<11x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
func.func @frozen(%ids: tensor<?xi32>, %seq: !talc.sequences) -> tensor<?x11xf32> attributes {talc.entry} {
  %ones = talc.get_weight @ones : tensor<11x8xf32>
  %x = talc.embedding %ids, %ones : (tensor<?xi32>, tensor<11x8xf32>) -> tensor<?x8xf32>
  %head = talc.get_weight @head : tensor<11x8xf32>
  %logits = talc.linear %x, %head : (tensor<?x8xf32>, tensor<11x8xf32>) -> tensor<?x11xf32>
  return %logits : tensor<?x11xf32>
}

// -----

// An operation without a rule is named.
talc.weight @table : tensor<11x11xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
func.func @model(%ids: tensor<?xi32>, %seq: !talc.sequences) -> tensor<?x11xf32> attributes {talc.entry} {
  %table = talc.get_weight @table : tensor<11x11xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<11x11xf32>) -> tensor<?x11xf32>
  // expected-error @+1 {{has no gradient, so that the weights before it cannot be trained}}
  %y = talc.log_softmax %x : tensor<?x11xf32> -> tensor<?x11xf32>
  return %y : tensor<?x11xf32>
}
