// SPDX-License-Identifier: Apache-2.0
// convert-talc-to-kernel refuses forms that earlier passes remove, and models that cannot be laid out.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -convert-talc-to-kernel

func.func @plain_weight(%x: tensor<?x32xf32>, %w: tensor<40x32xf32>) -> tensor<?x40xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// -----

func.func @narrow_panels(%x: tensor<?x32xf32>, %w: tensor<5x32x8xf32>) -> tensor<?x40xf32> {
  // expected-error@+1 {{has a weight in panels of 8 lanes, expected 16, 32 or 64}}
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<5x32x8xf32>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// -----

func.func @odd_gates(%x: tensor<?x32xf32>, %w: tensor<1x32x48xf32>) -> tensor<?x20xf32> {
  // expected-error@+1 {{has a weight in panels of 48 lanes, expected 16, 32 or 64}}
  %y = talc.gated_linear silu %x, %w : (tensor<?x32xf32>, tensor<1x32x48xf32>) -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
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
func.func @swapped(%x: tensor<?x32xf32>, %s: !talc.sequences, %kv: !talc.kv_cache<2 x 16 x 64>) -> tensor<?x32xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
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

// What attention would read now is not what `talc.kv_read` read.
func.func @stored_between(%q: tensor<?x8xf32>, %s: !talc.sequences, %kv: !talc.kv_cache<1 x 8 x 4>) -> tensor<?x8xf32> {
  // expected-error@+1 {{cannot be lowered in this form}}
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 4> -> tensor<?x8xf32>, tensor<?x8xf32>
  talc.kv_append %kv, %q, %q, %s : !talc.kv_cache<1 x 8 x 4>, tensor<?x8xf32>
  %o = talc.attention causal %q, %k, %v, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

talc.weight @table : tensor<4x8xf32> = #talc.fill<1.0>
// expected-error@+1 {{has an embedding table of 4 rows for a vocabulary of 9}}
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x9xf32> attributes {talc.entry} {
  %table = talc.get_weight @table : tensor<4x8xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %w = talc.get_weight @packed : tensor<1x8x16xf32>
  %y = talc.linear %x, %w : (tensor<?x8xf32>, tensor<1x8x16xf32>) -> tensor<?x9xf32>
  return %y : tensor<?x9xf32>
}
talc.weight @packed : tensor<1x8x16xf32> = #talc.fill<1.0>

// -----

// expected-error@+1 {{the attribute talc.outputs names 2 results, but @model has 1}}
module attributes {talc.outputs = ["logits", "hidden"]} {
  func.func @model(%ids: tensor<?xi32>, %x: tensor<?x9xf32>) -> tensor<?x9xf32> attributes {talc.entry} {
    return %x : tensor<?x9xf32>
  }
}

// -----

// expected-error@+1 {{the attribute talc.outputs has the unknown kind of result "scores", expected logits, hidden, classes, token_classes, head, tail or loss}}
module attributes {talc.outputs = ["scores"]} {
  func.func @model(%ids: tensor<?xi32>, %x: tensor<?x9xf32>) -> tensor<?x9xf32> attributes {talc.entry} {
    return %x : tensor<?x9xf32>
  }
}

// -----

module attributes {talc.outputs = ["hidden"]} {
  // expected-error@+1 {{reads a KV cache, so that its first result must be logits; talc.outputs has "hidden"}}
  func.func @decode(%x: tensor<1x9xf32>) -> tensor<1x9xf32> attributes {talc.entry, talc.entry_name = "decode"} {
    return %x : tensor<1x9xf32>
  }
}
