// SPDX-License-Identifier: Apache-2.0
// fuse-gated-linear fires on the two projections of a gated layer and on nothing that only resembles one.
// RUN: talc-opt %s -fuse-gated-linear | FileCheck %s

// CHECK-LABEL: @gate_first
// CHECK-NEXT: %[[Y:.*]] = talc.gated_linear silu %arg0, %arg1, %arg2
// CHECK-NEXT: return %[[Y]]
func.func @gate_first(%x: tensor<?x32xf32>, %gate: tensor<40x32xf32>, %up: tensor<40x32xf32>) -> tensor<?x40xf32> {
  %g = talc.linear %x, %gate : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %u = talc.linear %x, %up : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %a = talc.activation silu %g : tensor<?x40xf32>
  %y = talc.mul %a, %u : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// The product commutes; the gate stays the one below the activation.
// CHECK-LABEL: @up_first
// CHECK-NEXT: talc.gated_linear gelu_tanh %arg0, %arg1, %arg2
func.func @up_first(%x: tensor<?x32xf32>, %gate: tensor<40x32xf32>, %up: tensor<40x32xf32>) -> tensor<?x40xf32> {
  %u = talc.linear %x, %up : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %g = talc.linear %x, %gate : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %a = talc.activation gelu_tanh %g : tensor<?x40xf32>
  %y = talc.mul %u, %a : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// CHECK-LABEL: @bias
// CHECK-NOT: gated_linear
func.func @bias(%x: tensor<?x32xf32>, %gate: tensor<40x32xf32>, %up: tensor<40x32xf32>, %b: tensor<40xf32>) -> tensor<?x40xf32> {
  %g = talc.linear %x, %gate bias %b : (tensor<?x32xf32>, tensor<40x32xf32>, tensor<40xf32>) -> tensor<?x40xf32>
  %u = talc.linear %x, %up : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %a = talc.activation silu %g : tensor<?x40xf32>
  %y = talc.mul %a, %u : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// CHECK-LABEL: @different_x
// CHECK-NOT: gated_linear
func.func @different_x(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %gate: tensor<40x32xf32>, %up: tensor<40x32xf32>) -> tensor<?x40xf32> {
  %g = talc.linear %x, %gate : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %u = talc.linear %z, %up : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %a = talc.activation silu %g : tensor<?x40xf32>
  %y = talc.mul %a, %u : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// CHECK-LABEL: @second_use
// CHECK-NOT: gated_linear
func.func @second_use(%x: tensor<?x32xf32>, %gate: tensor<40x32xf32>, %up: tensor<40x32xf32>) -> (tensor<?x40xf32>, tensor<?x40xf32>) {
  %g = talc.linear %x, %gate : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %u = talc.linear %x, %up : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %a = talc.activation silu %g : tensor<?x40xf32>
  %y = talc.mul %a, %u : tensor<?x40xf32>
  return %y, %u : tensor<?x40xf32>, tensor<?x40xf32>
}

// CHECK-LABEL: @different_elements
// CHECK-NOT: gated_linear
func.func @different_elements(%x: tensor<?x32xf32>, %gate: tensor<40x32xf32>, %up: tensor<40x32xbf16>) -> tensor<?x40xf32> {
  %g = talc.linear %x, %gate : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %u = talc.linear %x, %up : (tensor<?x32xf32>, tensor<40x32xbf16>) -> tensor<?x40xf32>
  %a = talc.activation silu %g : tensor<?x40xf32>
  %y = talc.mul %a, %u : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// One projection gates itself: a second one is missing.
// CHECK-LABEL: @self_gated
// CHECK-NOT: gated_linear
func.func @self_gated(%x: tensor<?x32xf32>, %gate: tensor<40x32xf32>) -> tensor<?x40xf32> {
  %g = talc.linear %x, %gate : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  %a = talc.activation sigmoid %g : tensor<?x40xf32>
  %y = talc.mul %a, %g : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}
