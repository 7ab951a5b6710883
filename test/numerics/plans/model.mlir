// SPDX-License-Identifier: Apache-2.0
// One kernel of each kind that has a plan, for random-plans.test: panels that are full and not, one block of k and
// several, with and without gates and a bias.
// RUN: talc-opt %s -o /dev/null
module attributes {talc.max_sequence = 128 : i64} {
  talc.weight @table : tensor<50x64xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
  talc.weight @few : tensor<256x64xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 0.1>
  talc.weight @bias : tensor<256xf32> = #talc.random<seed = 3, mean = 0.0, deviation = 0.5>
  talc.weight @gate : tensor<200x256xf32> = #talc.random<seed = 4, mean = 0.0, deviation = 0.06>
  talc.weight @up : tensor<200x256xf32> = #talc.random<seed = 5, mean = 0.0, deviation = 0.06>
  talc.weight @mid : tensor<512x200xf32> = #talc.random<seed = 8, mean = 0.0, deviation = 0.06>
  talc.weight @deep : tensor<250x512xf32> = #talc.random<seed = 6, mean = 0.0, deviation = 0.05>
  talc.weight @head : tensor<50x250xf32> = #talc.random<seed = 7, mean = 0.0, deviation = 0.06>
  talc.kv_cache @cache : !talc.kv_cache<2 x 32 x 128>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x50xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<50x64xf32>
    %few = talc.get_weight @few : tensor<256x64xf32>
    %bias = talc.get_weight @bias : tensor<256xf32>
    %gate = talc.get_weight @gate : tensor<200x256xf32>
    %up = talc.get_weight @up : tensor<200x256xf32>
    %mid = talc.get_weight @mid : tensor<512x200xf32>
    %deep = talc.get_weight @deep : tensor<250x512xf32>
    %head = talc.get_weight @head : tensor<50x250xf32>
    %cache = talc.get_kv_cache @cache : !talc.kv_cache<2 x 32 x 128>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<50x64xf32>) -> tensor<?x64xf32>
    talc.kv_append %cache, %x, %x, %s : !talc.kv_cache<2 x 32 x 128>, tensor<?x64xf32>
    %k, %v = talc.kv_read %cache, %s : !talc.kv_cache<2 x 32 x 128> -> tensor<?x64xf32>, tensor<?x64xf32>
    %z = talc.attention causal %x, %k, %v, %s heads 2, 2 scale 0.2 : tensor<?x64xf32>, tensor<?x64xf32>
    %a = talc.linear %z, %few bias %bias : (tensor<?x64xf32>, tensor<256x64xf32>, tensor<256xf32>) -> tensor<?x256xf32>
    %g = talc.gated_linear silu %a, %gate, %up : (tensor<?x256xf32>, tensor<200x256xf32>, tensor<200x256xf32>) -> tensor<?x200xf32>
    %m = talc.linear %g, %mid : (tensor<?x200xf32>, tensor<512x200xf32>) -> tensor<?x512xf32>
    %d = talc.linear %m, %deep : (tensor<?x512xf32>, tensor<250x512xf32>) -> tensor<?x250xf32>
    %w = talc.linear %d, %head : (tensor<?x250xf32>, tensor<50x250xf32>) -> tensor<?x50xf32>
    return %w : tensor<?x50xf32>
  }
}
