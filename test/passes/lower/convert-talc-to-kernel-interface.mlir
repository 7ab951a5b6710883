// SPDX-License-Identifier: Apache-2.0
// convert-talc-to-kernel writes down what callers must know of a model, and serves several results, types and biases.
// RUN: talc-opt %s -split-input-file -convert-talc-to-kernel -cse -canonicalize | FileCheck %s

// An encoder with two results of which each has wanted rows of its own. Without logits every row of the table is an id.
// CHECK: talc.interface = {kind = "encoder", outputs = [{kind = "classes", width = 3 : i64}, {kind = "hidden", width = 8 : i64}], source_vocabulary = 0 : i64, token_types = 2 : i64, uses_prefix = false, vocabulary = 40 : i64}
module attributes {talc.outputs = ["classes", "hidden"]} {
talc.weight @table : tensor<40x8xf32> = #talc.fill<1.0>
talc.weight @types : tensor<2x8xf32> = #talc.fill<1.0>
talc.weight @head : tensor<1x8x16xf32> = #talc.fill<1.0>
// CHECK-LABEL: func.func @encode
// CHECK: kernel.gather types %[[STEP:.*]], %{{.*}} plus 0
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: %[[FIRST:.*]] = kernel.output_count %[[STEP]] 0
// CHECK: %[[X:.*]] = kernel.gather outputs %[[STEP]], %[[SUM]] plus 0 into
// CHECK: kernel.matmul %[[STEP]], %[[X]]
// CHECK: kernel.output %[[STEP]] 0 : memref<?x3xf32>
// CHECK: kernel.output_count %[[STEP]] 1
// CHECK: kernel.gather outputs %[[STEP]], %[[SUM]] plus 0 into {{.*}}{output = 1 : i64}
// CHECK: kernel.output %[[STEP]] 1 : memref<?x8xf32>
func.func @encode(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x3xf32>, tensor<?x8xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
  %table = talc.get_weight @table : tensor<40x8xf32>
  %types = talc.get_weight @types : tensor<2x8xf32>
  %head = talc.get_weight @head : tensor<1x8x16xf32>
  %e = talc.embedding %ids, %table : (tensor<?xi32>, tensor<40x8xf32>) -> tensor<?x8xf32>
  %t = talc.token_type %s, %types : tensor<2x8xf32> -> tensor<?x8xf32>
  %x = talc.add %e, %t : tensor<?x8xf32>
  %first = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  %y = talc.linear %first, %head : (tensor<?x8xf32>, tensor<1x8x16xf32>) -> tensor<?x3xf32>
  return %y, %x : tensor<?x3xf32>, tensor<?x8xf32>
}
}

// -----

// An encoder-decoder: sources have a vocabulary of their own. Attention over a source, with a bias, under a prefix mask.
// CHECK: talc.interface = {kind = "encoder_decoder", outputs = [{kind = "logits", width = 16 : i64}], source_vocabulary = 40 : i64, token_types = 0 : i64, uses_prefix = true, vocabulary = 16 : i64}
module attributes {talc.max_sequence = 64 : i64} {
talc.weight @source_table : tensor<40x16xf32> = #talc.fill<1.0>
talc.weight @table : tensor<20x16xf32> = #talc.fill<1.0>
talc.weight @bias : tensor<2x127xf32> = #talc.fill<1.0>
talc.kv_cache @source : !talc.kv_cache<2 x 8 x 64, source>
talc.kv_cache @cache : !talc.kv_cache<2 x 8 x 64>
// CHECK-LABEL: func.func @encode(
// CHECK: kernel.kv_append
// CHECK-NEXT: return
func.func @encode(%ids: tensor<?xi32>, %s: !talc.sequences) attributes {talc.entry, talc.entry_name = "encode"} {
  %table = talc.get_weight @source_table : tensor<40x16xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<40x16xf32>) -> tensor<?x16xf32>
  %state = talc.get_kv_cache @source : !talc.kv_cache<2 x 8 x 64, source>
  talc.kv_append %state, %x, %x, %s : !talc.kv_cache<2 x 8 x 64, source>, tensor<?x16xf32>
  return
}
// CHECK-LABEL: func.func @prefill(
// CHECK: %[[BIAS:.*]] = kernel.weight %[[STEP:.*]] @bias
// CHECK: kernel.attention prefix %[[STEP]], %{{.*}}, %{{.*}} bias %[[BIAS]] heads 2
// CHECK: kernel.attention full %[[STEP]], %{{.*}}, %{{.*}} heads 2
func.func @prefill(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x16xf32> attributes {talc.entry, talc.entry_name = "prefill"} {
  %table = talc.get_weight @table : tensor<20x16xf32>
  %bias = talc.get_weight @bias : tensor<2x127xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<20x16xf32>) -> tensor<?x16xf32>
  %cache = talc.get_kv_cache @cache : !talc.kv_cache<2 x 8 x 64>
  talc.kv_append %cache, %x, %x, %s : !talc.kv_cache<2 x 8 x 64>, tensor<?x16xf32>
  %k, %v = talc.kv_read %cache, %s : !talc.kv_cache<2 x 8 x 64> -> tensor<?x16xf32>, tensor<?x16xf32>
  %y = talc.attention prefix %x, %k, %v, %s heads 2, 2 scale 0.25 bias %bias : tensor<2x127xf32> : tensor<?x16xf32>, tensor<?x16xf32>
  %state = talc.get_kv_cache @source : !talc.kv_cache<2 x 8 x 64, source>
  %sk, %sv = talc.kv_read %state, %s : !talc.kv_cache<2 x 8 x 64, source> -> tensor<?x16xf32>, tensor<?x16xf32>
  %z = talc.attention full %y, %sk, %sv, %s heads 2, 2 scale 0.25 : tensor<?x16xf32>, tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}
}
