// SPDX-License-Identifier: Apache-2.0
// split-entries clones what the model reaches for each entry; in @decode only keys and values keep any number of tokens.
// RUN: talc-opt %s -split-entries -split-input-file -verify-diagnostics | FileCheck %s

talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 64>

// CHECK-NOT: @model
// CHECK-NOT: @block(

// CHECK-NOT: @unrelated
func.func private @unrelated(%x: tensor<?x32xf32>) {
  return
}

func.func private @block(%x: tensor<?x32xf32>, %s: !talc.sequences, %kv: !talc.kv_cache<2 x 16 x 64>) -> tensor<?x32xf32> {
  talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<2 x 16 x 64>, tensor<?x32xf32>
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
  %k2 = talc.scale %k by 2.0 : tensor<?x32xf32>
  %y = talc.attention causal %x, %k2, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  %z = talc.scale %y by 2.0 : tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%arg0: tensor<?xi32>, %arg1: !talc.sequences, %arg2: tensor<80x32xf32>) -> tensor<?x32xf32>
// CHECK-SAME: attributes {talc.entry, talc.entry_name = "prefill"}
// CHECK: call @block.prefill
// CHECK-LABEL: func.func private @block.prefill
// CHECK-SAME: (%arg0: tensor<?x32xf32>, {{.*}}) -> tensor<?x32xf32> attributes {talc.entry_name = "prefill"}
// CHECK: talc.attention {{.*}} : tensor<?x32xf32>, tensor<?x32xf32>
// CHECK-LABEL: func.func @decode
// CHECK-SAME: (%arg0: tensor<1xi32>, %arg1: !talc.sequences, %arg2: tensor<80x32xf32>) -> tensor<1x32xf32>
// CHECK-SAME: attributes {talc.entry, talc.entry_name = "decode"}
// CHECK: call @block.decode{{.*}} -> tensor<1x32xf32>
// CHECK: talc.select {{.*}} : tensor<1x32xf32> -> tensor<1x32xf32>
// CHECK-LABEL: func.func private @block.decode
// CHECK-SAME: (%arg0: tensor<1x32xf32>, {{.*}}) -> tensor<1x32xf32> attributes {talc.entry_name = "decode"}
// CHECK: %[[K:.*]], %[[V:.*]] = talc.kv_read {{.*}} -> tensor<?x32xf32>, tensor<?x32xf32>
// CHECK-NEXT: %[[SCALED:.*]] = talc.scale %[[K]] {{.*}} : tensor<?x32xf32>
// CHECK-NEXT: %[[Y:.*]] = talc.attention causal %arg0, %[[SCALED]], %[[V]], {{.*}} : tensor<1x32xf32>, tensor<?x32xf32>
// CHECK-NEXT: talc.scale %[[Y]] {{.*}} : tensor<1x32xf32>
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences, %wte: tensor<80x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  %x = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
  %y = call @block(%x, %s, %kv) : (tensor<?x32xf32>, !talc.sequences, !talc.kv_cache<2 x 16 x 64>) -> tensor<?x32xf32>
  %z = talc.select %y, %s : tensor<?x32xf32> -> tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// -----

// Functions may already have the name of an entry.
talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
// CHECK-LABEL: func.func @prefill(%arg0: tensor<?x32xf32>, {{.*}})
// CHECK-LABEL: func.func @decode(%arg0: tensor<1x32xf32>, {{.*}})
// CHECK: call @prefill.decode
// CHECK-LABEL: func.func @prefill.decode(%arg0: tensor<1x32xf32>)
func.func @prefill(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  return %x : tensor<?x32xf32>
}
func.func @decode(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> attributes {talc.entry} {
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
  %y = talc.attention causal %x, %k, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  %z = call @prefill(%y) : (tensor<?x32xf32>) -> tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// -----

// A model without KV cache gets whole sequences; the cache of a step does not outlive it.
talc.kv_cache @scratch : !talc.kv_cache<2 x 16 x 64, step>
// CHECK-NOT: @prefill
// CHECK-LABEL: func.func @encode(%arg0: tensor<?x32xf32>, {{.*}}) -> tensor<?x32xf32>
// CHECK-SAME: talc.entry_name = "encode"
// CHECK-NOT: @decode
func.func @model(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> attributes {talc.entry} {
  %kv = talc.get_kv_cache @scratch : !talc.kv_cache<2 x 16 x 64, step>
  talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<2 x 16 x 64, step>, tensor<?x32xf32>
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64, step> -> tensor<?x32xf32>, tensor<?x32xf32>
  %y = talc.attention full %x, %k, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// An encoder-decoder has all phases; a block that both entries call is cloned for each.
talc.kv_cache @source : !talc.kv_cache<2 x 16 x 64, source>
func.func private @double(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = talc.add %x, %x : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
// CHECK-DAG: func.func @encode(%arg0: tensor<?x32xf32>, %arg1: !talc.sequences) attributes {talc.entry, talc.entry_name = "encode"}
// CHECK-DAG: func.func private @double.encode
// CHECK-DAG: func.func @prefill
// CHECK-DAG: func.func private @double.prefill
// CHECK-DAG: func.func @decode
// CHECK-DAG: func.func private @double.decode(%arg0: tensor<1x32xf32>)
func.func @sources(%x: tensor<?x32xf32>, %s: !talc.sequences) attributes {talc.entry} {
  %state = talc.get_kv_cache @source : !talc.kv_cache<2 x 16 x 64, source>
  %y = call @double(%x) : (tensor<?x32xf32>) -> tensor<?x32xf32>
  talc.kv_append %state, %y, %y, %s : !talc.kv_cache<2 x 16 x 64, source>, tensor<?x32xf32>
  return
}
func.func @model(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> attributes {talc.entry} {
  %state = talc.get_kv_cache @source : !talc.kv_cache<2 x 16 x 64, source>
  %k, %v = talc.kv_read %state, %s : !talc.kv_cache<2 x 16 x 64, source> -> tensor<?x32xf32>, tensor<?x32xf32>
  %q = call @double(%x) : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = talc.attention full %q, %k, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

func.func @model(%x: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  return %x : tensor<?x32xf32>
}
// expected-error@+1 {{has the name of an entry, @decode; give it another name}}
talc.weight @decode : tensor<4xf32> = #talc.fill<0.0>

// -----

// expected-error@+1 {{has no function with talc.entry and results}}
module {
}

// -----

func.func @model(%x: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  return %x : tensor<?x32xf32>
}
// expected-error@+1 {{is a second function with talc.entry and with results, after @model}}
func.func @other(%x: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  return %x : tensor<?x32xf32>
}

// -----

func.func @source(%x: tensor<?x32xf32>) attributes {talc.entry} {
  return
}
// expected-error@+1 {{reads no KV cache beside the talc.entry of an encoder}}
func.func @model(%x: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  return %x : tensor<?x32xf32>
}

// -----

talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
// expected-error@+1 {{has no results, but reads a KV cache; an encoder takes whole sequences}}
func.func @source(%x: tensor<?x32xf32>, %s: !talc.sequences) attributes {talc.entry} {
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
  return
}

// -----

talc.kv_cache @source : !talc.kv_cache<2 x 16 x 64, source>
// expected-error@+1 {{reads a source, which a function with talc.entry and no results would leave}}
func.func @model(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> attributes {talc.entry} {
  %state = talc.get_kv_cache @source : !talc.kv_cache<2 x 16 x 64, source>
  %k, %v = talc.kv_read %state, %s : !talc.kv_cache<2 x 16 x 64, source> -> tensor<?x32xf32>, tensor<?x32xf32>
  %y = talc.attention full %x, %k, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
talc.kv_cache @scratch : !talc.kv_cache<2 x 16 x 64, step>
// expected-error@+1 {{attends to the keys of a step alone, but also reads a KV cache; its steps are not whole sequences}}
func.func @model(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> attributes {talc.entry} {
  %scratch = talc.get_kv_cache @scratch : !talc.kv_cache<2 x 16 x 64, step>
  %k, %v = talc.kv_read %scratch, %s : !talc.kv_cache<2 x 16 x 64, step> -> tensor<?x32xf32>, tensor<?x32xf32>
  %y = talc.attention full %x, %k, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
  %k2, %v2 = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
  %z = talc.attention causal %y, %k2, %v2, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// -----

// Parts of logits are for callers who ask for some words of many tokens: a step for one has none of them.
module attributes {talc.outputs = ["logits", "head", "tail"]} {
talc.kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
// CHECK-LABEL: func.func @prefill(%arg0: tensor<?x8xf32>
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x5xf32>)
// CHECK-COUNT-3: talc.select
// CHECK-LABEL: func.func @decode(%arg0: tensor<1x8xf32>
// CHECK-SAME: -> tensor<1x8xf32>
// CHECK-COUNT-1: talc.select
// CHECK-NOT: talc.select
// CHECK-NOT: talc.slice
// CHECK: return %{{.*}} : tensor<1x8xf32>
func.func @model(%x: tensor<?x8xf32>, %s: !talc.sequences) -> (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x5xf32>) attributes {talc.entry} {
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<1 x 8 x 64>
  talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention causal %x, %k, %v, %s heads 1, 1 scale 0.25 : tensor<?x8xf32>, tensor<?x8xf32>
  %a = talc.select %y, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  %b = talc.select %y, %s {output = 1 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
  %head = talc.slice %b at 0 : tensor<?x8xf32> -> tensor<?x4xf32>
  %c = talc.select %y, %s {output = 2 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
  %tail = talc.slice %c at 3 : tensor<?x8xf32> -> tensor<?x5xf32>
  return %a, %head, %tail : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x5xf32>
}
}
