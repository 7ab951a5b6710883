// SPDX-License-Identifier: Apache-2.0
// check-model refuses what would read or write beside the rows, tables and states that there are; its first part is
// what it lets pass.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -check-model

module attributes {talc.max_sequence = 64 : i64} {
  talc.weight @table : tensor<9x8xf32> = #talc.fill<1.0>
  talc.kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
  func.func private @block(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %kv: !talc.kv_cache<1 x 8 x 64>, %b: tensor<1x127xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
    %r = talc.rope %x, %s heads 1 rotary 8 base 10000.0 : tensor<?x8xf32>
    talc.kv_append %kv, %r, %x, %s : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
    %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
    %y = talc.attention causal %r, %k, %v, %s heads 1, 1 scale 0.5 bias %b : tensor<1x127xf32> : tensor<?x8xf32>, tensor<?x8xf32>
    %z = talc.linear %y, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %z : tensor<?x8xf32>
  }
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x9xf32>, tensor<?x8xf32>) attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<9x8xf32>
    %positions = talc.derive #talc.fill<1.0> of () : () -> tensor<66x8xf32>
    %w = talc.derive #talc.fill<1.0> of () : () -> tensor<8x8xf32>
    %b = talc.derive #talc.fill<1.0> of () : () -> tensor<1x127xf32>
    %kv = talc.get_kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
    %p = talc.position %s, %positions {offset = 2 : i64} : tensor<66x8xf32> -> tensor<?x8xf32>
    %y = talc.add %x, %p : tensor<?x8xf32>
    %z = call @block(%y, %w, %kv, %b, %s) : (tensor<?x8xf32>, tensor<8x8xf32>, !talc.kv_cache<1 x 8 x 64>, tensor<1x127xf32>, !talc.sequences) -> tensor<?x8xf32>
    %last = talc.select %z, %s : tensor<?x8xf32> -> tensor<?x8xf32>
    %logits = talc.linear %last, %table : (tensor<?x8xf32>, tensor<9x8xf32>) -> tensor<?x9xf32>
    return %logits, %z : tensor<?x9xf32>, tensor<?x8xf32>
  }
  func.func @decode(%ids: tensor<1xi32>, %s: !talc.sequences) -> tensor<1x8xf32> attributes {talc.entry, talc.entry_name = "decode"} {
    %table = talc.get_weight @table : tensor<9x8xf32>
    %x = talc.embedding %ids, %table : (tensor<1xi32>, tensor<9x8xf32>) -> tensor<1x8xf32>
    return %x : tensor<1x8xf32>
  }
}

// -----

// expected-error@+1 {{has the attribute talc.max_sequence = 0 : i64, expected 1 to 2^30 tokens as i64}}
module attributes {talc.max_sequence = 0 : i64} {
}

// -----

// expected-error@+1 {{has the attribute talc.max_sequence = 9223372036854775807 : i64, expected 1 to 2^30 tokens as i64}}
module attributes {talc.max_sequence = 9223372036854775807 : i64} {
}

// -----

// expected-error@+1 {{has the attribute talc.max_sequence = 8 : i32, expected an i64}}
module attributes {talc.max_sequence = 8 : i32} {
}

// -----

module attributes {talc.max_sequence = 64 : i64} {
  // expected-error@+1 {{has room for 63 tokens, fewer than the module's talc.max_sequence = 64}}
  talc.kv_cache @kv : !talc.kv_cache<1 x 8 x 63>
}

// -----

module attributes {talc.max_sequence = 64 : i64} {
  func.func @few_positions(%s: !talc.sequences, %t: tensor<65x32xf32>) -> tensor<?x32xf32> {
    // expected-error@+1 {{has a table for 63 positions, fewer than the module's talc.max_sequence}}
    %p = talc.position %s, %t {offset = 2 : i64} : tensor<65x32xf32> -> tensor<?x32xf32>
    return %p : tensor<?x32xf32>
  }
}

// -----

module attributes {talc.max_sequence = 64 : i64} {
  func.func @far_positions(%s: !talc.sequences, %t: tensor<65x32xf32>) -> tensor<?x32xf32> {
    // expected-error@+1 {{has a table for 0 positions, fewer than the module's talc.max_sequence}}
    %p = talc.position %s, %t {offset = 9223372036854775807 : i64} : tensor<65x32xf32> -> tensor<?x32xf32>
    return %p : tensor<?x32xf32>
  }
}

// -----

module attributes {talc.max_sequence = 64 : i64} {
  func.func @few_turns(%x: tensor<?x8xf32>, %s: !talc.sequences, %t: tensor<63x8xf32>) -> tensor<?x8xf32> {
    // expected-error@+1 {{has a table for 63 positions, fewer than the module's talc.max_sequence}}
    %y = talc.rope %x, %s heads 1 rotary 8 base 10000.0 table %t : tensor<63x8xf32> : tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// 64 tokens have 127 distances.
module attributes {talc.max_sequence = 64 : i64} {
  func.func @few_distances(%x: tensor<?x8xf32>, %s: !talc.sequences, %b: tensor<1x125xf32>) -> tensor<?x8xf32> {
    // expected-error@+1 {{has a bias for 63 positions, fewer than the module's talc.max_sequence}}
    %y = talc.attention causal %x, %x, %x, %s heads 1, 1 scale 0.25 bias %b : tensor<1x125xf32> : tensor<?x8xf32>, tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// expected-error@+1 {{is an entry of type '(!talc.sequences, tensor<?xi32>) -> ()', expected ('tensor<?xi32>', !talc.sequences) -> rows of f32}}
func.func @swapped(%s: !talc.sequences, %ids: tensor<?xi32>) attributes {talc.entry} {
  return
}

// -----

// expected-error@+1 {{is an entry of type '(tensor<?xi32>, !talc.sequences, tensor<?x8xf32>) -> tensor<?x8xf32>'}}
func.func @more(%ids: tensor<?xi32>, %s: !talc.sequences, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {talc.entry} {
  return %x : tensor<?x8xf32>
}

// -----

// expected-error@+1 {{is an entry of type '(tensor<4xi32>, !talc.sequences) -> ()'}}
func.func @four(%ids: tensor<4xi32>, %s: !talc.sequences) attributes {talc.entry} {
  return
}

// -----

// expected-error@+1 {{is an entry of type '(tensor<?xi32>, !talc.sequences) -> tensor<8x8xf32>'}}
func.func @of_known_size(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<8x8xf32> attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<8x8xf32>
  return %w : tensor<8x8xf32>
}

// -----

// expected-error@+1 {{has 3 results; a model has at most 2}}
func.func @three(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) attributes {talc.entry} {
  %t = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %t : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %x, %x, %x : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Parts of logits are not results, but their number is limited, too.
module attributes {talc.outputs = ["logits", "head", "tail"]} {
  func.func @parts(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) attributes {talc.entry} {
    %t = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
    %x = talc.embedding %ids, %t : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = talc.select %x, %s {output = 2 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
    return %x, %x, %y : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

module attributes {talc.outputs = ["logits", "head", "tail", "tail", "tail", "tail", "tail", "tail", "tail"]} {
  // expected-error@+1 {{has 9 results and parts of logits; a model has at most 8}}
  func.func @parts(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) attributes {talc.entry} {
    %t = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
    %x = talc.embedding %ids, %t : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %x, %x, %x, %x, %x, %x, %x, %x, %x : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

func.func @sizes(%s: !talc.sequences, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error@+1 {{yields 'tensor<4x8xf32>', expected ? rows}}
  %y = talc.select %x, %s : tensor<?x8xf32> -> tensor<4x8xf32>
  return %x : tensor<?x8xf32>
}

// -----

func.func @sum(%x: tensor<?x8xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  %y = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error@+1 {{receives the tokens of the step, expected tokens wanted for the result 0}}
  %z = talc.add %y, %x : tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}

// -----

// Which rows a single one is does matter, too.
func.func @sum(%x: tensor<1x8xf32>, %s: !talc.sequences) -> tensor<1x8xf32> attributes {talc.entry_name = "decode"} {
  %y = talc.select %x, %s {output = 1 : i64} : tensor<1x8xf32> -> tensor<1x8xf32>
  %scaled = talc.scale %y by 2.0 : tensor<1x8xf32>
  // expected-error@+1 {{receives tokens wanted for the result 1, expected the tokens of the step}}
  %z = talc.mul %x, %scaled : tensor<1x8xf32>
  return %x : tensor<1x8xf32>
}

// -----

func.func @turned(%x: tensor<?x8xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  %y = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error@+1 {{receives tokens wanted for the result 0, expected the tokens of the step}}
  %z = talc.rope %y, %s heads 1 rotary 8 base 10000.0 : tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}

// -----

func.func @twice(%x: tensor<?x8xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  %y = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error@+1 {{receives tokens wanted for the result 0, expected the tokens of the step}}
  %z = talc.select %y, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}

// -----

func.func @stored(%x: tensor<?x8xf32>, %s: !talc.sequences, %kv: !talc.kv_cache<1 x 8 x 64>) {
  %y = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error@+1 {{receives tokens wanted for the result 0, expected the tokens of the step}}
  talc.kv_append %kv, %x, %y, %s : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
  return
}

// -----

func.func @attended(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  // expected-error@+1 {{receives a weight, expected the tokens of the step}}
  %y = talc.attention full %x, %w, %w, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<4x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @kept(%s: !talc.sequences, %kv: !talc.kv_cache<1 x 8 x 64>) -> tensor<?x8xf32> {
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
  // expected-error@+1 {{receives keys, expected the tokens of the step}}
  return %k : tensor<?x8xf32>
}

// -----

func.func private @block(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
func.func @caller(%x: tensor<?x8xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  %y = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error@+1 {{receives tokens wanted for the result 0, expected the tokens of the step}}
  %z = func.call @block(%y) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

// Only an entry selects rows.
func.func @block(%x: tensor<?x8xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  %y = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error@+1 {{receives tokens wanted for the result 0, expected the tokens of the step}}
  return %y : tensor<?x8xf32>
}

// -----

func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x8xf32>, tensor<?x8xf32>) attributes {talc.entry} {
  %t = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %t : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %y = talc.select %x, %s {output = 1 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error@+1 {{receives tokens wanted for the result 1, expected the tokens of the step}}
  return %y, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %t = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %t : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  // expected-error@+1 {{is for the result 1 of a model of 1}}
  %y = talc.select %x, %s {output = 1 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}

// -----

// expected-error@+1 {{has no body}}
func.func private @declared(%x: tensor<?x8xf32>) -> tensor<?x8xf32>

// -----

module attributes {talc.max_sequence = 64 : i64, talc.segmented} {
  // expected-error@+1 {{is a ring, but the module is talc.segmented}}
  talc.kv_cache @ring : !talc.kv_cache<1 x 4 x 32 window 8>
}
