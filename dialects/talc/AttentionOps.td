// SPDX-License-Identifier: Apache-2.0
// The operations of the talc dialect in which tokens interact with other tokens.
#ifndef TALC_ATTENTION_OPS
#define TALC_ATTENTION_OPS

def Talc_AttentionOp : Talc_Op<"attention", [Pure, AttrSizedOperandSegments, AllTypesMatch<["queries", "result"]>,
                                          AllTypesMatch<["keys", "values"]>]> {
  let summary = "softmax(scale * Q K^T + mask) V for every head and sequence";
  let description = [{
    queries [T, heads*d], keys and values [S, kv_heads*d]; query head h uses key-value head h / (heads/kv_heads).
    Keys belong to the same tokens as the queries (S = T), or come from `talc.kv_read` (past and present, S >= T).
    mask full: all keys of the sequence; causal: keys at or before the query's position; prefix: causal, and the first P
    tokens of the sequence see each other, P being the caller's (arXiv 1910.10683, section 3.2.1). `window` = W > 0 also
    asks for |query - key| < W in positions. A query that sees no key yields zero.
    Keys read from a source (`!talc.kv_cache<..., source>`) have no order among the queries: mask full, no window, no bias.
    `bias` [heads, 2L - 1] is added to the scaled score: column L - 1 + key position - query position; L is the number
    of tokens that a sequence may have, at least. If it is `absolute`, [heads, L], the column is the key's position.
    `cap` = c > 0 soft-caps the scaled score, before the bias: c * tanh(score / c) (Gemma 2, arXiv 2408.00118).
    `sinks` [heads] is an additional score of each head, for a key without a value: it only takes part in the softmax
    (gpt-oss).
    `row_bias` [T, heads*D], with the mask causal, is a bias for each query: column h*D + max(D - 1 - distance, 0) for head
    h is added to the scaled score (Transformer-XL, arXiv 1901.02860). With `zero_start` and a window, the positions before
    the first token of a sequence that a window covers have zero keys and values, which take part in the softmax with
    their bias.
    `sink_tokens` = K > 0, with a window: queries also see the first K tokens of their sequence. They use the rows of
    `sink_queries` for these, which may be rotated for other positions (StreamingLLM, arXiv 2309.17453).
    Softmax subtracts the maximum. Source: Vaswani et al. 2017; grouped heads: arXiv 2305.13245.
  }];
  let arguments = (ins Talc_Activations:$queries, Talc_Activations:$keys, Talc_Activations:$values,
                       Talc_Sequences:$sequences, Optional<Talc_Matrix>:$bias, Optional<Talc_Vector>:$sinks,
                       Optional<Talc_Activations>:$sink_queries, Optional<Talc_Activations>:$row_bias,
                       Talc_MaskKindAttr:$mask, I64Attr:$heads,
                       I64Attr:$kv_heads, F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F64Attr, "0.0">:$cap, UnitAttr:$absolute,
                       DefaultValuedAttr<I64Attr, "0">:$sink_tokens, UnitAttr:$zero_start);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    `` $mask $queries `,` $keys `,` $values `,` $sequences `heads` $heads `,` $kv_heads `scale` $scale
    (`bias` $bias^ `:` type($bias))? (`sinks` $sinks^ `:` type($sinks))?
    (`sink_queries` `(` $sink_queries^ `:` type($sink_queries) `)`)?
    (`row_bias` $row_bias^ `:` type($row_bias) (`zero_start` $zero_start^)?)? attr-dict `:` type($queries) `,` type($keys)
  }];
  let hasVerifier = 1;
}

def Talc_MemoryOp : Talc_Op<"memory", [MemoryEffects<[MemRead, MemWrite]>,
                                       AllTypesMatch<["local", "queries", "result"]>,
                                       AllTypesMatch<["keys", "values"]>]> {
  let summary = "compressive memory of earlier segments, combined with attention inside the open segment";
  let description = [{
    ```mlir
    %y = talc.memory linear %local, %q, %k, %v, %memory, %sequences gates %beta heads 4 : (...) -> tensor<?x32xf32>
    ```
    A sequence is cut into segments (`talc.segmented`). `local` and queries [T, heads*d], keys and values [T, kv_heads*d],
    gates [heads], and a cache of the role `memory` for kv_heads of width d. Each key-value head has a matrix M [d, d] and a
    vector z [d], initially zero. With s(x) = x + 1 for x > 0, else e^x, query head h in the group of a key-value head reads
      A = s(q) M / max(s(q).z, 1e-6);   result = g A + (1 - g) local,   g = sigmoid(gates[h])
    and each key k with its value v adds, ascending in t,
      linear: s(k)^T v        delta: s(k)^T (v - s(k) M / max(s(k).z, 1e-6))
    to M and s(k) to z. The update takes effect when the next segment begins, so that all tokens of a segment read the same
    memory. In the first segment A is zero; with `local_first` the result there is `local`.
    Source: Infini-attention (arXiv 2404.07143). Queries and keys have no rotary positions.
  }];
  let arguments = (ins Talc_MemoryUpdateAttr:$update, Talc_Activations:$local, Talc_Activations:$queries,
                       Talc_Activations:$keys, Talc_Activations:$values, Talc_KvCache:$cache, Talc_Sequences:$sequences,
                       Talc_Vector:$gates, I64Attr:$heads, UnitAttr:$local_first);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    `` $update $local `,` $queries `,` $keys `,` $values `,` $cache `,` $sequences `gates` $gates `heads` $heads
    (`local_first` $local_first^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TALC_ATTENTION_OPS
