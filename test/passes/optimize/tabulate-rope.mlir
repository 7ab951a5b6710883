// SPDX-License-Identifier: Apache-2.0
// tabulate-rope: a table for every rope that has none, one row per position that a sequence may have.
// RUN: talc-opt %s -tabulate-rope -split-input-file -verify-diagnostics | FileCheck %s

module attributes {talc.max_sequence = 64 : i64} {
  // The scaling of the frequencies goes into the recipe.
  // CHECK-LABEL: @ropes
  // CHECK-NEXT: %[[A:.*]] = talc.derive #talc.rotary_table<base = 1.000000e+04> of() : () -> tensor<64x16xf32>
  // CHECK-NEXT: talc.rope %arg0, %arg1 heads 2 rotary 16 base 1.000000e+04 table %[[A]] : tensor<64x16xf32>
  // CHECK-NEXT: %[[B:.*]] = talc.derive #talc.rotary_table<base = 5.000000e+05, scaling = #talc.linear_scaling<factor = 2.000000e+00>> of() : () -> tensor<64x8xf32>
  // CHECK-NEXT: talc.rope %{{.*}}, %arg1 heads 2 rotary 8 base 5.000000e+05 scaling(#talc.linear_scaling<factor = 2.000000e+00>) table %[[B]]
  func.func @ropes(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
    %0 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 : tensor<?x32xf32>
    %1 = talc.rope %0, %s heads 2 rotary 8 base 500000.0 scaling(#talc.linear_scaling<factor = 2.0>) : tensor<?x32xf32>
    return %1 : tensor<?x32xf32>
  }

  // CHECK-LABEL: @table
  // CHECK-NEXT: talc.rope %arg0, %arg1 heads 2 rotary 16 base 1.000000e+04 table %arg2
  func.func @table(%x: tensor<?x32xf32>, %s: !talc.sequences, %t: tensor<64x16xf32>) -> tensor<?x32xf32> {
    %0 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 table %t : tensor<64x16xf32> : tensor<?x32xf32>
    return %0 : tensor<?x32xf32>
  }
}

// -----

func.func @unlimited(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
  // expected-error@+1 {{needs the module's attribute talc.max_sequence}}
  %0 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 : tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// -----

// Texts without end: the turns of the digits of a position, which the rope composes. What counts as the last position
// does not change the table.
module attributes {talc.max_sequence = 1073741824 : i64} {
  // CHECK-LABEL: @endless
  // CHECK-NEXT: %[[A:.*]] = talc.derive #talc.rotary_table<base = 1.000000e+04, digits = 1024> of() : () -> tensor<3072x16xf32>
  // CHECK-NEXT: talc.rope %arg0, %arg1 heads 2 rotary 16 base 1.000000e+04 table %[[A]] : tensor<3072x16xf32> {digits = 1024 : i64}
  func.func @endless(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
    %0 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 : tensor<?x32xf32>
    return %0 : tensor<?x32xf32>
  }
}

// -----

// Rows behind the last position are of no use.
module attributes {talc.max_sequence = 64 : i64} {
  // CHECK-LABEL: @until
  // CHECK-NEXT: talc.derive #talc.rotary_table<base = 1.000000e+04> of() : () -> tensor<8x16xf32>
  func.func @until(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
    %0 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 {last = 7 : i64} : tensor<?x32xf32>
    return %0 : tensor<?x32xf32>
  }
}
