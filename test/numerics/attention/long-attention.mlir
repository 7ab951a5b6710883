// SPDX-License-Identifier: Apache-2.0
// A sequence of several blocks of keys (expand-attention) within a window: against the interpreter, and bit for bit however
// it is divided into steps, batches and threads.
// RUN: %python -c "print('--ids=' + ','.join(str(i * i % 61) for i in range(690)), '--ids=' + ','.join(str(i % 7) for i in range(77)))" > %t.ids
// RUN: talc compile %s -o %t.app
// RUN: talc-interpret %s @%t.ids --logits %t.expected
// RUN: talc-steps %t.app @%t.ids -t 2 --check --logits %t.found
// RUN: talc-compare %t.expected %t.found

module attributes {talc.name = "long-attention", talc.max_sequence = 700 : i64} {
  talc.weight @table : tensor<64x128xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
  talc.weight @head : tensor<64x64xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 0.3>
  talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 700>
  func.func @model(%ids: tensor<?xi32>, %sequences: !talc.sequences) -> tensor<?x64xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<64x128xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<64x128xf32>) -> tensor<?x128xf32>
    %q0 = talc.slice %x at 0 : tensor<?x128xf32> -> tensor<?x64xf32>
    %k0 = talc.slice %x at 64 : tensor<?x128xf32> -> tensor<?x32xf32>
    %v = talc.slice %x at 96 : tensor<?x128xf32> -> tensor<?x32xf32>
    %q = talc.rope %q0, %sequences heads 4 rotary 16 base 10000.0 : tensor<?x64xf32>
    %k = talc.rope %k0, %sequences heads 2 rotary 16 base 10000.0 : tensor<?x32xf32>
    %kv = talc.get_kv_cache @kv : !talc.kv_cache<2 x 16 x 700>
    talc.kv_append %kv, %k, %v, %sequences : !talc.kv_cache<2 x 16 x 700>, tensor<?x32xf32>
    %keys, %values = talc.kv_read %kv, %sequences : !talc.kv_cache<2 x 16 x 700> -> tensor<?x32xf32>, tensor<?x32xf32>
    %y = talc.attention causal %q, %keys, %values, %sequences heads 4, 2 scale 0.25 {window = 530 : i64} : tensor<?x64xf32>, tensor<?x32xf32>
    %last = talc.select %y, %sequences : tensor<?x64xf32> -> tensor<?x64xf32>
    %head = talc.get_weight @head : tensor<64x64xf32>
    %logits = talc.linear %last, %head : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    return %logits : tensor<?x64xf32>
  }
}
