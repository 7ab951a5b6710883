// SPDX-License-Identifier: Apache-2.0
// check-model refuses states that are read before anything is appended to them, in the order of a sequence's first step, and
// those that a step appends to twice.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -check-model

talc.kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
func.func @nothing(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
  // expected-error@+1 {{reads the KV cache @kv before anything is appended to it: in the first step of a sequence it is empty}}
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention causal %x, %k, %v, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

talc.kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
func.func @behind(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
  // expected-error@+1 {{reads the KV cache @kv before anything is appended to it}}
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
  talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
  %y = talc.attention causal %x, %k, %v, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// The second rows would stand where the first did, whoever reads between them.
talc.kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
func.func @twice(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
  talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention causal %x, %k, %v, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  // expected-error@+1 {{appends to the KV cache @kv a second time: a step appends its tokens once}}
  talc.kv_append %kv, %y, %x, %s : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Calls are followed: a layer's own state is another one than its neighbor's.
talc.kv_cache @first : !talc.kv_cache<1 x 8 x 64>
talc.kv_cache @second : !talc.kv_cache<1 x 8 x 64>
talc.kv_cache @third : !talc.kv_cache<1 x 8 x 64>
func.func private @layer(%x: tensor<?x8xf32>, %own: !talc.kv_cache<1 x 8 x 64>, %read: !talc.kv_cache<1 x 8 x 64>, %s: !talc.sequences) -> tensor<?x8xf32> {
  talc.kv_append %own, %x, %x, %s : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
  // expected-error@+1 {{reads the KV cache @second before anything is appended to it}}
  %k, %v = talc.kv_read %read, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention causal %x, %k, %v, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @calls(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %first = talc.get_kv_cache @first : !talc.kv_cache<1 x 8 x 64>
  %second = talc.get_kv_cache @second : !talc.kv_cache<1 x 8 x 64>
  %third = talc.get_kv_cache @third : !talc.kv_cache<1 x 8 x 64>
  %y = call @layer(%x, %first, %first, %s) : (tensor<?x8xf32>, !talc.kv_cache<1 x 8 x 64>, !talc.kv_cache<1 x 8 x 64>, !talc.sequences) -> tensor<?x8xf32>
  %z = call @layer(%y, %third, %second, %s) : (tensor<?x8xf32>, !talc.kv_cache<1 x 8 x 64>, !talc.kv_cache<1 x 8 x 64>, !talc.sequences) -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

// A source that no entry leaves.
talc.kv_cache @memory : !talc.kv_cache<1 x 8 x 64, source>
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %memory = talc.get_kv_cache @memory : !talc.kv_cache<1 x 8 x 64, source>
  // expected-error@+1 {{reads the KV cache @memory of the source, to which nothing is appended}}
  %k, %v = talc.kv_read %memory, %s : !talc.kv_cache<1 x 8 x 64, source> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention full %x, %k, %v, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// One that an entry without results leaves, whichever stands first.
talc.kv_cache @memory : !talc.kv_cache<1 x 8 x 64, source>
func.func @decoder(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %memory = talc.get_kv_cache @memory : !talc.kv_cache<1 x 8 x 64, source>
  %k, %v = talc.kv_read %memory, %s : !talc.kv_cache<1 x 8 x 64, source> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention full %x, %k, %v, %s heads 1, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @encoder(%ids: tensor<?xi32>, %s: !talc.sequences) attributes {talc.entry} {
  %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
  %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  %memory = talc.get_kv_cache @memory : !talc.kv_cache<1 x 8 x 64, source>
  talc.kv_append %memory, %x, %x, %s : !talc.kv_cache<1 x 8 x 64, source>, tensor<?x8xf32>
  return
}

// -----

// A ring has what its window sees, and what is kept beside it.
module attributes {talc.max_sequence = 1000 : i64} {
  talc.kv_cache @ring : !talc.kv_cache<1 x 8 x 64 window 9>
  func.func @wide(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
    %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
    %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
    %kv = talc.get_kv_cache @ring : !talc.kv_cache<1 x 8 x 64 window 9>
    talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<1 x 8 x 64 window 9>, tensor<?x8xf32>
    %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64 window 9> -> tensor<?x8xf32>, tensor<?x8xf32>
    // expected-error@+1 {{reads a ring, expected the mask causal and a window of 1 to 9}}
    %y = talc.attention causal %x, %k, %v, %s heads 1, 1 scale 0.5 {window = 10 : i64} : tensor<?x8xf32>, tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {talc.max_sequence = 1000 : i64} {
  talc.kv_cache @ring : !talc.kv_cache<1 x 8 x 64 window 9 sink_tokens 2>
  func.func @kept(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
    %w = talc.derive #talc.fill<1.0> of () : () -> tensor<9x8xf32>
    %x = talc.embedding %ids, %w : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
    %kv = talc.get_kv_cache @ring : !talc.kv_cache<1 x 8 x 64 window 9 sink_tokens 2>
    talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<1 x 8 x 64 window 9 sink_tokens 2>, tensor<?x8xf32>
    %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64 window 9 sink_tokens 2> -> tensor<?x8xf32>, tensor<?x8xf32>
    // expected-error@+1 {{sees 0 sink tokens of a KV cache with 2}}
    %y = talc.attention causal %x, %k, %v, %s heads 1, 1 scale 0.5 {window = 9 : i64} : tensor<?x8xf32>, tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}
