// SPDX-License-Identifier: Apache-2.0
// Which packed weights, padded biases and recipes without sources the verifiers of linear and gated_linear accept.
// RUN: talc-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @accepted
// CHECK: talc.derive #talc.fill<0.000000e+00> of() : () -> tensor<48xf32>
// CHECK: talc.linear %arg0, %arg1 bias
// CHECK: talc.gated_linear silu %arg0, %arg2, %arg2 :
// CHECK: talc.gated_linear gelu %arg0, %arg3 :
func.func @accepted(%x: tensor<?x32xf32>, %w: tensor<3x32x16xbf16>, %gate: tensor<41x32xf32>, %both: tensor<6x32x16xf16>) {
  %zeros = talc.derive #talc.fill<0.0> of () : () -> tensor<48xf32>
  %0 = talc.linear %x, %w bias %zeros : (tensor<?x32xf32>, tensor<3x32x16xbf16>, tensor<48xf32>) -> tensor<?x33xf32>
  %1 = talc.gated_linear silu %x, %gate, %gate : (tensor<?x32xf32>, tensor<41x32xf32>, tensor<41x32xf32>) -> tensor<?x41xf32>
  %2 = talc.gated_linear gelu %x, %both : (tensor<?x32xf32>, tensor<6x32x16xf16>) -> tensor<?x41xf32>
  return
}

// -----

func.func @padded_bias_needs_panels(%x: tensor<?x32xf32>, %w: tensor<33x32xf32>, %b: tensor<48xf32>) {
  // expected-error@+1 {{length of the bias is 48, expected 33}}
  %0 = talc.linear %x, %w bias %b : (tensor<?x32xf32>, tensor<33x32xf32>, tensor<48xf32>) -> tensor<?x33xf32>
  return
}

// -----

func.func @panels(%x: tensor<?x32xf32>, %both: tensor<5x32x16xf32>) {
  // expected-error@+1 {{number of panels of the weight is 5, expected 6}}
  %0 = talc.gated_linear silu %x, %both : (tensor<?x32xf32>, tensor<5x32x16xf32>) -> tensor<?x41xf32>
  return
}

// -----

func.func @odd_lanes(%x: tensor<?x32xf32>, %both: tensor<6x32x15xf32>) {
  // expected-error@+1 {{expected [panels, depth, even number of lanes]}}
  %0 = talc.gated_linear silu %x, %both : (tensor<?x32xf32>, tensor<6x32x15xf32>) -> tensor<?x41xf32>
  return
}

// -----

func.func @one_matrix(%x: tensor<?x32xf32>, %gate: tensor<41x32xf32>) {
  // expected-error@+1 {{expected [panels, depth, even number of lanes]}}
  %0 = talc.gated_linear silu %x, %gate : (tensor<?x32xf32>, tensor<41x32xf32>) -> tensor<?x41xf32>
  return
}

// -----

func.func @different_matrices(%x: tensor<?x32xf32>, %gate: tensor<41x32xf32>, %up: tensor<40x32xf32>) {
  // expected-error@+1 {{has a gate of type 'tensor<41x32xf32>' and an up projection of type 'tensor<40x32xf32>'}}
  %0 = talc.gated_linear silu %x, %gate, %up : (tensor<?x32xf32>, tensor<41x32xf32>, tensor<40x32xf32>) -> tensor<?x41xf32>
  return
}

// -----

func.func @depth(%x: tensor<?x32xf32>, %both: tensor<6x31x16xf32>) {
  // expected-error@+1 {{width of x is 32, expected 31}}
  %0 = talc.gated_linear silu %x, %both : (tensor<?x32xf32>, tensor<6x31x16xf32>) -> tensor<?x41xf32>
  return
}
