// SPDX-License-Identifier: Apache-2.0
// What convert-talc-to-kernel refuses: forms that earlier passes remove, and models that cannot be laid out.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -convert-talc-to-kernel

func.func @plain_weight(%x: tensor<?x32xf32>, %w: tensor<40x32xf32>) -> tensor<?x40xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// -----

func.func @no_table(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %y = talc.rope %x, %s heads 2 rotary 16 base 10000.0 : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

func.func @keys_of_the_step(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %y = talc.attention full %x, %x, %x, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// Keys and values swapped.
func.func @swapped(%x: tensor<?x32xf32>, %s: !talc.sequences, %kv: !talc.state<2 x 16 x 64>) -> tensor<?x32xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %k, %v = talc.read %kv, %s : !talc.state<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
  %y = talc.attention full %x, %v, %k, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

func.func @underived(%w: tensor<40x32xf32>) -> tensor<32x40xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %t = talc.derive #talc.transpose of (%w) : (tensor<40x32xf32>) -> tensor<32x40xf32>
  return %t : tensor<32x40xf32>
}

// -----

module attributes {talc.max_sequence = 64 : i64} {
func.func @exact_positions(%s: !talc.sequences, %t: tensor<66x32xf32>) -> tensor<?x32xf32> {
  %p = talc.position %s, %t {offset = 2 : i64} : tensor<66x32xf32> -> tensor<?x32xf32>
  return %p : tensor<?x32xf32>
}
}

// -----

module attributes {talc.max_sequence = 64 : i64} {
func.func @few_positions(%s: !talc.sequences, %t: tensor<65x32xf32>) -> tensor<?x32xf32> {
  // expected-error@+2 {{has a table of 65 positions, fewer than the module's talc.max_sequence needs}}
  // expected-error@+1 {{cannot be lowered in this form}}
  %p = talc.position %s, %t {offset = 2 : i64} : tensor<65x32xf32> -> tensor<?x32xf32>
  return %p : tensor<?x32xf32>
}
}

// -----

// expected-error@+1 {{selects rows; only the entry function can}}
func.func @block(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
  %y = talc.select %x, %s : tensor<?x32xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// expected-error@+1 {{returns 2 values, expected 1}}
func.func @two(%x: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  return %x, %x : tensor<?x32xf32>, tensor<?x32xf32>
}
