// SPDX-License-Identifier: Apache-2.0
// A model written by hand: an induction head, which goes on with what followed the same token before.
//
//   talc compile examples/mlir/induction.mlir -o induction
//   ./induction --ids 3,1,4,2,3 -n 4           prints 1,4,2,3
//
// There are eight tokens, and token t is the unit vector e_t. The first attention sees two tokens alike, so twice its
// result is current + previous. The second looks for positions whose previous token is the current one, and yields the
// token that stands there. (Position 0 has no previous token; half of the current one is subtracted so that it, too,
// scores less than a true match.) Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
module attributes {talc.name = "induction", talc.max_sequence = 64 : i64} {
  talc.weight @unit : tensor<8x8xf32> = #talc.values<dense<[
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<8x8xf32>>

  // Keys and values of one head, 8 wide, for at most 64 tokens.
  talc.kv_cache @neighbours : !talc.kv_cache<1 x 8 x 64>
  talc.kv_cache @followers : !talc.kv_cache<1 x 8 x 64>

  func.func @model(%ids: tensor<?xi32>, %sequences: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
    %unit = talc.get_weight @unit : tensor<8x8xf32>
    %current = talc.embedding %ids, %unit : (tensor<?xi32>, tensor<8x8xf32>) -> tensor<?x8xf32>

    %neighbours = talc.get_kv_cache @neighbours : !talc.kv_cache<1 x 8 x 64>
    %nothing = talc.scale %current by 0.0 : tensor<?x8xf32>
    talc.kv_append %neighbours, %nothing, %current, %sequences : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
    %k0, %v0 = talc.kv_read %neighbours, %sequences : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
    %both = talc.attention causal %current, %k0, %v0, %sequences heads 1, 1 scale 1.0 {window = 2 : i64}
        : tensor<?x8xf32>, tensor<?x8xf32>

    %twice = talc.scale %both by 2.0 : tensor<?x8xf32>
    %less = talc.scale %current by -1.5 : tensor<?x8xf32>
    %previous = talc.add %twice, %less : tensor<?x8xf32>

    %followers = talc.get_kv_cache @followers : !talc.kv_cache<1 x 8 x 64>
    talc.kv_append %followers, %previous, %current, %sequences : !talc.kv_cache<1 x 8 x 64>, tensor<?x8xf32>
    %k1, %v1 = talc.kv_read %followers, %sequences : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
    %next = talc.attention causal %current, %k1, %v1, %sequences heads 1, 1 scale 40.0
        : tensor<?x8xf32>, tensor<?x8xf32>

    %wanted = talc.select %next, %sequences : tensor<?x8xf32> -> tensor<?x8xf32>
    %logits = talc.linear %wanted, %unit : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %logits : tensor<?x8xf32>
  }
}
