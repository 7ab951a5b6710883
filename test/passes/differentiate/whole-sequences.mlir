// SPDX-License-Identifier: Apache-2.0
// whole-sequences: attention reads the keys and values that the same step appends.
// RUN: talc-opt %s --split-input-file --verify-diagnostics --whole-sequences | FileCheck %s

// CHECK-LABEL: func.func @model
// CHECK-NOT: talc.kv_append
// CHECK-NOT: talc.kv_read
// CHECK: talc.attention causal %[[X:.*]], %[[X]], %[[X]], %{{.*}} heads 2, 2
talc.weight @table : tensor<11x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
talc.kv_cache @cache : !talc.kv_cache<2 x 4 x 16>
func.func @model(%ids: tensor<?xi32>, %seq: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %table = talc.get_weight @table : tensor<11x8xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<11x8xf32>) -> tensor<?x8xf32>
  %cache = talc.get_kv_cache @cache : !talc.kv_cache<2 x 4 x 16>
  talc.kv_append %cache, %x, %x, %seq : !talc.kv_cache<2 x 4 x 16>, tensor<?x8xf32>
  %keys, %values = talc.kv_read %cache, %seq : !talc.kv_cache<2 x 4 x 16> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention causal %x, %keys, %values, %seq heads 2, 2 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Keys of a source come from another function.
talc.weight @table : tensor<11x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
talc.kv_cache @source : !talc.kv_cache<2 x 4 x 16, source>
func.func @model(%ids: tensor<?xi32>, %seq: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
  %table = talc.get_weight @table : tensor<11x8xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<11x8xf32>) -> tensor<?x8xf32>
  %source = talc.get_kv_cache @source : !talc.kv_cache<2 x 4 x 16, source>
  // expected-error @+1 {{reads keys that the same step does not append; only decoders and encoders are trained}}
  %keys, %values = talc.kv_read %source, %seq : !talc.kv_cache<2 x 4 x 16, source> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention full %x, %keys, %values, %seq heads 2, 2 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
