// SPDX-License-Identifier: Apache-2.0
// The Transformer of Vaswani et al. 2017, "Attention Is All You Need", as it stands in the paper: scaled embeddings that
// are also the output projection, sinusoidal positions, norms after each part, attention to the encoder's result. Small:
// one layer each instead of six, 32 features in 4 heads instead of 512 in 8; the weights are random.
//
//   talc compile examples/mlir/transformer.mlir -o transformer
//   ./transformer --ids 5,17,8 -n 6            prints what follows token 1 after the source 5 17 8
!ids = tensor<?xi32>
!rows = tensor<?x32xf32>
!inner = tensor<?x128xf32>
!square = tensor<32x32xf32>
!vector = tensor<32xf32>
!cache = !talc.kv_cache<4 x 8 x 64>
!source = !talc.kv_cache<4 x 8 x 64, source>

module attributes {talc.name = "transformer", talc.max_sequence = 64 : i64, talc.generation = {start = 1 : i64}} {
  talc.weight @embedding : tensor<100x32xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 0.18>
  talc.weight @positions : tensor<64x32xf32> = #talc.sinusoid_table<interleaved>
  talc.weight @ones : !vector = #talc.fill<1.0>
  talc.weight @zeros : !vector = #talc.fill<0.0>

  talc.weight @encoder.q : !square = #talc.random<seed = 2, mean = 0.0, deviation = 0.5>
  talc.weight @encoder.k : !square = #talc.random<seed = 3, mean = 0.0, deviation = 0.5>
  talc.weight @encoder.v : !square = #talc.random<seed = 4, mean = 0.0, deviation = 0.5>
  talc.weight @encoder.out : !square = #talc.random<seed = 5, mean = 0.0, deviation = 0.5>
  talc.weight @encoder.up : tensor<128x32xf32> = #talc.random<seed = 6, mean = 0.0, deviation = 0.5>
  talc.weight @encoder.up.bias : tensor<128xf32> = #talc.random<seed = 7, mean = 0.0, deviation = 0.1>
  talc.weight @encoder.down : tensor<32x128xf32> = #talc.random<seed = 8, mean = 0.0, deviation = 0.3>
  talc.weight @encoder.down.bias : !vector = #talc.random<seed = 9, mean = 0.0, deviation = 0.1>

  talc.weight @decoder.q : !square = #talc.random<seed = 10, mean = 0.0, deviation = 0.5>
  talc.weight @decoder.k : !square = #talc.random<seed = 11, mean = 0.0, deviation = 0.5>
  talc.weight @decoder.v : !square = #talc.random<seed = 12, mean = 0.0, deviation = 0.5>
  talc.weight @decoder.out : !square = #talc.random<seed = 13, mean = 0.0, deviation = 0.5>
  talc.weight @cross.q : !square = #talc.random<seed = 14, mean = 0.0, deviation = 0.5>
  talc.weight @cross.k : !square = #talc.random<seed = 15, mean = 0.0, deviation = 0.5>
  talc.weight @cross.v : !square = #talc.random<seed = 16, mean = 0.0, deviation = 0.5>
  talc.weight @cross.out : !square = #talc.random<seed = 17, mean = 0.0, deviation = 0.5>
  talc.weight @decoder.up : tensor<128x32xf32> = #talc.random<seed = 18, mean = 0.0, deviation = 0.5>
  talc.weight @decoder.up.bias : tensor<128xf32> = #talc.random<seed = 19, mean = 0.0, deviation = 0.1>
  talc.weight @decoder.down : tensor<32x128xf32> = #talc.random<seed = 20, mean = 0.0, deviation = 0.3>
  talc.weight @decoder.down.bias : !vector = #talc.random<seed = 21, mean = 0.0, deviation = 0.1>

  // The KV caches of a text: its own keys and values, and those of its source.
  talc.kv_cache @own : !cache
  talc.kv_cache @source : !source

  // sqrt(32) * embedding + position.
  func.func private @embed(%ids: !ids, %s: !talc.sequences) -> !rows {
    %table = talc.get_weight @embedding : tensor<100x32xf32>
    %positions = talc.get_weight @positions : tensor<64x32xf32>
    %token = talc.embedding %ids, %table : (!ids, tensor<100x32xf32>) -> !rows
    %scaled = talc.scale %token by 5.656854249492381 : !rows
    %position = talc.position %s, %positions : tensor<64x32xf32> -> !rows
    %x = talc.add %scaled, %position : !rows
    return %x : !rows
  }

  // norm(x + part).
  func.func private @residual(%x: !rows, %part: !rows, %s: !talc.sequences) -> !rows {
    %ones = talc.get_weight @ones : !vector
    %zeros = talc.get_weight @zeros : !vector
    %sum = talc.add %x, %part : !rows
    %y = talc.norm layer %sum, %ones bias %zeros epsilon 1.0e-5 : (!rows, !vector, !vector) -> !rows
    return %y : !rows
  }

  // down(relu(up(x))).
  func.func private @feed_forward(%x: !rows, %up: tensor<128x32xf32>, %up_bias: tensor<128xf32>,
                                  %down: tensor<32x128xf32>, %down_bias: !vector, %s: !talc.sequences) -> !rows {
    %wide = talc.linear %x, %up bias %up_bias : (!rows, tensor<128x32xf32>, tensor<128xf32>) -> !inner
    %hidden = talc.activation relu %wide : !inner
    %y = talc.linear %hidden, %down bias %down_bias : (!inner, tensor<32x128xf32>, !vector) -> !rows
    return %y : !rows
  }

  // Evaluated once for a source; leaves the keys and values of the decoder's attention to it.
  func.func @encoder(%ids: !ids, %s: !talc.sequences) attributes {talc.entry} {
    %x = call @embed(%ids, %s) : (!ids, !talc.sequences) -> !rows
    %wq = talc.get_weight @encoder.q : !square
    %wk = talc.get_weight @encoder.k : !square
    %wv = talc.get_weight @encoder.v : !square
    %wo = talc.get_weight @encoder.out : !square
    %q = talc.linear %x, %wq : (!rows, !square) -> !rows
    %k = talc.linear %x, %wk : (!rows, !square) -> !rows
    %v = talc.linear %x, %wv : (!rows, !square) -> !rows
    %mixed = talc.attention full %q, %k, %v, %s heads 4, 4 scale 0.35355339059327379 : !rows, !rows
    %attended = talc.linear %mixed, %wo : (!rows, !square) -> !rows
    %y = call @residual(%x, %attended, %s) : (!rows, !rows, !talc.sequences) -> !rows

    %up = talc.get_weight @encoder.up : tensor<128x32xf32>
    %up_bias = talc.get_weight @encoder.up.bias : tensor<128xf32>
    %down = talc.get_weight @encoder.down : tensor<32x128xf32>
    %down_bias = talc.get_weight @encoder.down.bias : !vector
    %fed = call @feed_forward(%y, %up, %up_bias, %down, %down_bias, %s)
        : (!rows, tensor<128x32xf32>, tensor<128xf32>, tensor<32x128xf32>, !vector, !talc.sequences) -> !rows
    %memory = call @residual(%y, %fed, %s) : (!rows, !rows, !talc.sequences) -> !rows

    %source = talc.get_kv_cache @source : !source
    %ck = talc.get_weight @cross.k : !square
    %cv = talc.get_weight @cross.v : !square
    %keys = talc.linear %memory, %ck : (!rows, !square) -> !rows
    %values = talc.linear %memory, %cv : (!rows, !square) -> !rows
    talc.kv_append %source, %keys, %values, %s : !source, !rows
    return
  }

  func.func @decoder(%ids: !ids, %s: !talc.sequences) -> tensor<?x100xf32> attributes {talc.entry} {
    %x = call @embed(%ids, %s) : (!ids, !talc.sequences) -> !rows
    %wq = talc.get_weight @decoder.q : !square
    %wk = talc.get_weight @decoder.k : !square
    %wv = talc.get_weight @decoder.v : !square
    %wo = talc.get_weight @decoder.out : !square
    %own = talc.get_kv_cache @own : !cache
    %q = talc.linear %x, %wq : (!rows, !square) -> !rows
    %k = talc.linear %x, %wk : (!rows, !square) -> !rows
    %v = talc.linear %x, %wv : (!rows, !square) -> !rows
    talc.kv_append %own, %k, %v, %s : !cache, !rows
    %own_keys, %own_values = talc.kv_read %own, %s : !cache -> !rows, !rows
    %mixed = talc.attention causal %q, %own_keys, %own_values, %s heads 4, 4 scale 0.35355339059327379 : !rows, !rows
    %attended = talc.linear %mixed, %wo : (!rows, !square) -> !rows
    %y = call @residual(%x, %attended, %s) : (!rows, !rows, !talc.sequences) -> !rows

    %cq = talc.get_weight @cross.q : !square
    %co = talc.get_weight @cross.out : !square
    %source = talc.get_kv_cache @source : !source
    %queries = talc.linear %y, %cq : (!rows, !square) -> !rows
    %keys, %values = talc.kv_read %source, %s : !source -> !rows, !rows
    %found = talc.attention full %queries, %keys, %values, %s heads 4, 4 scale 0.35355339059327379 : !rows, !rows
    %told = talc.linear %found, %co : (!rows, !square) -> !rows
    %z = call @residual(%y, %told, %s) : (!rows, !rows, !talc.sequences) -> !rows

    %up = talc.get_weight @decoder.up : tensor<128x32xf32>
    %up_bias = talc.get_weight @decoder.up.bias : tensor<128xf32>
    %down = talc.get_weight @decoder.down : tensor<32x128xf32>
    %down_bias = talc.get_weight @decoder.down.bias : !vector
    %fed = call @feed_forward(%z, %up, %up_bias, %down, %down_bias, %s)
        : (!rows, tensor<128x32xf32>, tensor<128xf32>, tensor<32x128xf32>, !vector, !talc.sequences) -> !rows
    %last = call @residual(%z, %fed, %s) : (!rows, !rows, !talc.sequences) -> !rows

    %table = talc.get_weight @embedding : tensor<100x32xf32>
    %wanted = talc.select %last, %s : !rows -> !rows
    %logits = talc.linear %wanted, %table : (!rows, tensor<100x32xf32>) -> tensor<?x100xf32>
    return %logits : tensor<?x100xf32>
  }
}
