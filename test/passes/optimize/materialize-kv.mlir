// SPDX-License-Identifier: Apache-2.0
// materialize-kv gives attentions over the step's rows a scratch state, which equal attentions share.
// RUN: talc-opt %s -materialize-kv -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: module attributes
// CHECK-NEXT: talc.kv_cache @attention.scratch.1x16 : !talc.kv_cache<1 x 16 x 64, step> {sym_visibility = "private"}
// CHECK-NEXT: talc.kv_cache @attention.scratch.2x16 : !talc.kv_cache<2 x 16 x 64, step> {sym_visibility = "private"}
// CHECK-NEXT: talc.kv_cache @kv
// CHECK-NOT: talc.kv_cache @
module attributes {talc.max_sequence = 64 : i64} {
  talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 64>

  // CHECK-LABEL: @block
  // CHECK-SAME: %[[X:[^:]*]]: tensor<?x32xf32>, %[[S:[^:]*]]: !talc.sequences, %[[SCRATCH:[^:]*]]: !talc.kv_cache<2 x 16 x 64, step>)
  // CHECK-NEXT: talc.kv_append %[[SCRATCH]], %[[X]], %[[X]], %[[S]]
  // CHECK-NEXT: %[[K:.*]], %[[V:.*]] = talc.kv_read %[[SCRATCH]], %[[S]]
  // CHECK-NEXT: %[[Y:.*]] = talc.attention full %[[X]], %[[K]], %[[V]], %[[S]] heads 2, 2
  // CHECK-NEXT: talc.kv_append %[[SCRATCH]], %[[Y]], %[[Y]], %[[S]]
  // CHECK-NEXT: talc.kv_read %[[SCRATCH]], %[[S]]
  func.func private @block(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
    %y = talc.attention full %x, %x, %x, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
    %z = talc.attention full %y, %y, %y, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
    return %z : tensor<?x32xf32>
  }

  // CHECK-LABEL: @model
  // CHECK-COUNT-1: talc.get_kv_cache @attention.scratch.2x16
  // CHECK-NOT: get_state
  // CHECK: call @block(%arg0, %arg1, %[[STATE:.*]]) :
  // CHECK: call @block(%{{.*}}, %arg1, %[[STATE]]) :
  func.func @model(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> attributes {talc.entry} {
    %y = call @block(%x, %s) : (tensor<?x32xf32>, !talc.sequences) -> tensor<?x32xf32>
    %z = call @block(%y, %s) : (tensor<?x32xf32>, !talc.sequences) -> tensor<?x32xf32>
    return %z : tensor<?x32xf32>
  }

  // An uncalled function fetches the state itself; grouped heads need another one.
  // CHECK-LABEL: @grouped
  // CHECK-NEXT: %[[STATE:.*]] = talc.get_kv_cache @attention.scratch.1x16
  // CHECK: talc.kv_append %[[STATE]]
  func.func @grouped(%x: tensor<?x32xf32>, %k: tensor<?x16xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
    %y = talc.attention causal %x, %k, %k, %s heads 2, 1 scale 0.25 : tensor<?x32xf32>, tensor<?x16xf32>
    return %y : tensor<?x32xf32>
  }

  // CHECK-LABEL: @has_state
  // CHECK-NOT: scratch
  func.func @has_state(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
    %kv = talc.get_kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
    talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<2 x 16 x 64>, tensor<?x32xf32>
    %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
    %y = talc.attention causal %x, %k, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
    return %y : tensor<?x32xf32>
  }
}

// -----

module attributes {talc.max_sequence = 64 : i64} {
  func.func @changed_after_read(%x: tensor<?x32xf32>, %s: !talc.sequences, %kv: !talc.kv_cache<2 x 16 x 64>) -> tensor<?x32xf32> {
    %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
    %twice = talc.scale %k by 2.0 : tensor<?x32xf32>
    // expected-error@+1 {{has keys or values computed from a talc.kv_read}}
    %y = talc.attention causal %x, %twice, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
    return %y : tensor<?x32xf32>
  }
}

// -----

module {
  func.func @no_capacity(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
    // expected-error@+1 {{needs the module's attribute talc.max_sequence}}
    %y = talc.attention full %x, %x, %x, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
    return %y : tensor<?x32xf32>
  }
}
