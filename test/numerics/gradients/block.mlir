// SPDX-License-Identifier: Apache-2.0
// Gradients of a decoder with tied tables against differences of the loss; models.test has whole checkpoints.
// RUN: talc-opt %s --whole-sequences --differentiate -o %t
// RUN: talc-gradients %t --ids 3,10,4,7 --ids 9,0,1 --tolerance 1e-7 | FileCheck %s
// RUN: talc-opt %s --whole-sequences --differentiate='recompute=none smoothing=0.1' -o %t.kept
// RUN: talc-gradients %t.kept --ids 3,10,4,7 --ids 9,0,1 --tolerance 1e-7 | FileCheck %s
// CHECK: loss
// CHECK-NEXT: down {{.*}}e-
// CHECK-NEXT: key
// CHECK-NEXT: positions
// CHECK-NEXT: query
// CHECK-NEXT: scale
// CHECK-NEXT: shift
// CHECK-NEXT: table
// CHECK-NEXT: up
// CHECK-NEXT: value

// A wrong gradient is found.
// RUN: sed 's/activation_dgrad silu/activation_dgrad gelu/' %t > %t.wrong
// RUN: not talc-gradients %t.wrong --ids 3,10,4,7 --tolerance 1e-7 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: a gradient is wrong

module attributes {talc.max_sequence = 16 : i64} {
  talc.weight @table : tensor<11x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
  talc.weight @positions : tensor<16x8xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 0.5>
  talc.weight @scale : tensor<8xf32> = #talc.random<seed = 3, mean = 1.0, deviation = 0.2>
  talc.weight @shift : tensor<8xf32> = #talc.random<seed = 4, mean = 0.0, deviation = 0.2>
  talc.weight @query : tensor<8x8xf32> = #talc.random<seed = 5, mean = 0.0, deviation = 0.5>
  talc.weight @key : tensor<4x8xf32> = #talc.random<seed = 6, mean = 0.0, deviation = 0.5>
  talc.weight @value : tensor<4x8xf32> = #talc.random<seed = 7, mean = 0.0, deviation = 0.5>
  talc.weight @up : tensor<12x8xf32> = #talc.random<seed = 8, mean = 0.0, deviation = 0.5>
  talc.weight @down : tensor<8x12xf32> = #talc.random<seed = 9, mean = 0.0, deviation = 0.5>
  talc.kv_cache @cache : !talc.kv_cache<1 x 4 x 16>

  func.func private @layer(%x: tensor<?x8xf32>, %seq: !talc.sequences, %cache: !talc.kv_cache<1 x 4 x 16>, %scale: tensor<8xf32>,
                           %shift: tensor<8xf32>, %query: tensor<8x8xf32>, %key: tensor<4x8xf32>, %value: tensor<4x8xf32>,
                           %up: tensor<12x8xf32>, %down: tensor<8x12xf32>) -> tensor<?x8xf32> {
    %h = talc.norm layer %x, %scale bias %shift epsilon 1.0e-5 : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %q = talc.linear %h, %query : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %k = talc.linear %h, %key : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
    %v = talc.linear %h, %value : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
    %qr = talc.rope %q, %seq heads 2 rotary 4 base 100.0 : tensor<?x8xf32>
    %kr = talc.rope %k, %seq heads 1 rotary 4 base 100.0 : tensor<?x4xf32>
    talc.kv_append %cache, %kr, %v, %seq : !talc.kv_cache<1 x 4 x 16>, tensor<?x4xf32>
    %keys, %values = talc.kv_read %cache, %seq : !talc.kv_cache<1 x 4 x 16> -> tensor<?x4xf32>, tensor<?x4xf32>
    %a = talc.attention causal %qr, %keys, %values, %seq heads 2, 1 scale 0.5 : tensor<?x8xf32>, tensor<?x4xf32>
    %y = talc.add %x, %a : tensor<?x8xf32>
    %n = talc.norm rms %y, %scale epsilon 1.0e-5 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %u = talc.linear %n, %up : (tensor<?x8xf32>, tensor<12x8xf32>) -> tensor<?x12xf32>
    %s = talc.activation silu %u : tensor<?x12xf32>
    %g = talc.mul %s, %u : tensor<?x12xf32>
    %d = talc.linear %g, %down : (tensor<?x12xf32>, tensor<8x12xf32>) -> tensor<?x8xf32>
    %z = talc.add %y, %d : tensor<?x8xf32>
    return %z : tensor<?x8xf32>
  }

  func.func @model(%ids: tensor<?xi32>, %seq: !talc.sequences) -> tensor<?x11xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<11x8xf32>
    %positions = talc.get_weight @positions : tensor<16x8xf32>
    %scale = talc.get_weight @scale : tensor<8xf32>
    %shift = talc.get_weight @shift : tensor<8xf32>
    %query = talc.get_weight @query : tensor<8x8xf32>
    %key = talc.get_weight @key : tensor<4x8xf32>
    %value = talc.get_weight @value : tensor<4x8xf32>
    %up = talc.get_weight @up : tensor<12x8xf32>
    %down = talc.get_weight @down : tensor<8x12xf32>
    %cache = talc.get_kv_cache @cache : !talc.kv_cache<1 x 4 x 16>
    %e = talc.embedding %ids, %table : (tensor<?xi32>, tensor<11x8xf32>) -> tensor<?x8xf32>
    %p = talc.position %seq, %positions : tensor<16x8xf32> -> tensor<?x8xf32>
    %x = talc.add %e, %p : tensor<?x8xf32>
    %y = call @layer(%x, %seq, %cache, %scale, %shift, %query, %key, %value, %up, %down) : (tensor<?x8xf32>, !talc.sequences, !talc.kv_cache<1 x 4 x 16>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>) -> tensor<?x8xf32>
    %selected = talc.select %y, %seq : tensor<?x8xf32> -> tensor<?x8xf32>
    %logits = talc.linear %selected, %table : (tensor<?x8xf32>, tensor<11x8xf32>) -> tensor<?x11xf32>
    return %logits : tensor<?x11xf32>
  }
}
