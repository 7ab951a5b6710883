// SPDX-License-Identifier: Apache-2.0
// What the verifier says about biases of rows; other attention is in invalid-layers.mlir.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @row_bias(%q: tensor<?x8xf32>, %b: tensor<?x9xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{has the row bias 'tensor<?x9xf32>', expected a row for each query and 2 heads of distances}}
  %0 = talc.attention causal %q, %q, %q, %s heads 2, 2 scale 1.0 row_bias %b : tensor<?x9xf32> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @row_bias_mask(%q: tensor<?x8xf32>, %b: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{has a bias for each row: expected the mask causal, no other bias, and no sink tokens}}
  %0 = talc.attention full %q, %q, %q, %s heads 2, 2 scale 1.0 row_bias %b : tensor<?x8xf32> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @zero_start(%q: tensor<?x8xf32>, %b: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{has keys that are zero at the start: expected a window, a bias for each row, and no sinks}}
  %0 = talc.attention causal %q, %q, %q, %s heads 2, 2 scale 1.0 row_bias %b : tensor<?x8xf32> zero_start : tensor<?x8xf32>, tensor<?x8xf32>
  return
}
