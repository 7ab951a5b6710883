// SPDX-License-Identifier: Apache-2.0
// The compute ops of the kernel dialect: each is computed by one loop nest.
#ifndef COMPUTE_OPS
#define COMPUTE_OPS

include "dialects/kernel/ComputeOpBase.td"

def Kernel_MatmulOp : Kernel_ComputeOp<"matmul", ["getDivision", "getTaskSpace", "getFused"], [SingleBlock]> {
  let summary = "multiplies activations by a packed weight, with an epilogue on every sum";
  let description = [{
    x [T, K], weight [P, K, L] (#talc.pack, L 16, 32 or 64), init [T, N]:
      init[t, n] = epilogue(sum_k x[t, k] * weight[n / L, k, n % L], inputs at (t, n))
    An input is [T, N] (element (t, n)), or a vector of at least N elements (element n). Each sum is one f32 chain with
    k ascending, so that results do not depend on how the loops are tiled.

    `gated`: a panel holds L/2 gate columns, then L/2 up columns (#talc.interleave); the epilogue receives both sums.
    `groups` = G: x is [T, G*S], and panel p sums the first K of the S features of group p / (P/G).
    `split_k` = D: x has one row, K is a multiple of D, and row d of init [D, N] receives the partial sums over the d-th
    part of K; the op has neither inputs, gates nor groups (`split-k`).

    If x is quantized (`kernel.quantize`), a target may sum products of integers that share scales exactly, and add these
    sums to the chain, k ascending. If x and weight are bf16, it may take two k at a time (`kernel.dot_pairs`).
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$weight, Variadic<Kernel_Data>:$inputs,
                       Kernel_Data:$init, UnitAttr:$gated, DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$split_k);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $step `,` $x `,` $weight (`inputs` `(` $inputs^ `)`)? `into` $init (`gated` $gated^)? (`groups` $groups^)? (`split_k` $split_k^)?
    $epilogue attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_ExpertsOp : Kernel_ComputeOp<"experts", ["getDivision", "getTaskSpace", "getFused"], [SingleBlock]> {
  let summary = "multiplies each token's activations by the weights of the experts that it is routed to";
  let description = [{
    routes [T, E], weight [E*P, K, L]: P panels for each expert. Slot s of token t is its s-th expert, ascending, whose
    routes[t, e] is not zero; there are at most `slots`.
      first half (`gated`):  x [T, K], init [T, slots*N]:  init[t, s*N + n] = epilogue(gate sum, up sum)
      second half:           x [T, slots*K], init [T, N]:  init[t, n] = epilogue(sum of slot s, routes[t, e], init[t, n]),
                             s ascending, init being zero before
    The epilogue also receives element e*N + n of each of the `biases`.
    Each sum is one f32 chain with k ascending, and x may be quantized, as in kernel.matmul. A task takes one expert after
    the other: the tokens that chose it are multiplied together, in tiles. Weights of experts that no token of the step
    chose are not read.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$routes, Kernel_Data:$weight,
                       Variadic<Kernel_Data>:$biases, Kernel_Data:$init, I64Attr:$slots, UnitAttr:$gated);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $step `,` $x `routes` $routes `,` $weight (`biases` `(` $biases^ `)`)? `slots` $slots `into` $init
    (`gated` $gated^)? $epilogue attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator, ParentOneOf<["MatmulOp", "ExpertsOp"]>]> {
  let summary = "the value that a matmul stores";
  let arguments = (ins Variadic<F32>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Kernel_AttentionOp : Kernel_ComputeOp<"attention", ["getDivision", "getTaskSpace", "addFacts"],
                                      [AttrSizedOperandSegments]> {
  let summary = "online-softmax attention of the step's queries over a KV cache";
  let description = [{
    queries and init [T, heads*width]; see `talc.attention`. A KV cache of the role source has the keys of the sequence's
    source, and every query sees all of them. Keys are taken in blocks of fixed size counted from position 0, so that a
    query's result does not depend on the other queries of the step. Source: Milakov and Gimelshein 2018; FlashAttention
    (arXiv 2205.14135).

    `block`, a multiple of the layout's token group, splits the keys (flash decoding): queries have a single row, and row b
    of init [ceil(capacity / block), n] receives the partial result of the b-th block of keys, for kernel.combine (see
    PartialAttentionLayout). For a ring, init has one row more, and block b goes to row b modulo their number. The sink
    tokens that `sink_queries` see are a block of their own, before all others.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$queries, Talc_KvCache:$cache, Optional<Kernel_Data>:$bias,
                       Optional<Kernel_Data>:$sinks, Optional<Kernel_Data>:$sink_queries,
                       Optional<Kernel_Data>:$row_bias, Kernel_Data:$init,
                       Talc_MaskKindAttr:$mask, I64Attr:$heads, F64Attr:$scale, I64Attr:$window,
                       DefaultValuedAttr<F64Attr, "0.0">:$cap, UnitAttr:$absolute, UnitAttr:$zero_start,
                       OptionalAttr<I64Attr>:$block);
  let assemblyFormat = [{
    `` $mask $step `,` $queries `,` $cache (`bias` $bias^)? (`sinks` $sinks^)? (`sink_queries` $sink_queries^)?
    (`row_bias` $row_bias^ (`zero_start` $zero_start^)?)? `heads` $heads
    `scale` $scale `window` $window (`block` $block^)? `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_CombineOp : Kernel_ComputeOp<"combine"> {
  let summary = "merges the partial attention results of key blocks for a single token";
  let description = [{
    init [1, heads*width]; partials [blocks, n] as an attention with the same `block`, `window` and `sinks` leaves them, over
    the keys of the token's sequence, or of its `source`; `ring`: over those that a ring holds. Blocks are merged in
    ascending order, as by an attention that takes them one after the other, so that the bits are the same.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$partials, Optional<Kernel_Data>:$sinks, Kernel_Data:$init,
                       I64Attr:$heads, I64Attr:$window, I64Attr:$block, UnitAttr:$source, UnitAttr:$ring);
  let assemblyFormat = [{
    $step `,` $partials (`sinks` $sinks^)? `heads` $heads `window` $window `block` $block (`source` $source^)?
    (`ring` $ring^)? `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_NormOp : Kernel_ComputeOp<"norm"> {
  let summary = "layer or root-mean-square normalization of every row, in groups; see `talc.norm`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$scale, Optional<Kernel_Data>:$bias,
                       Kernel_Data:$init, Talc_NormKindAttr:$kind, F64Attr:$epsilon, I64Attr:$groups);
  let assemblyFormat = [{
    `` $kind $step `,` $x `,` $scale (`bias` $bias^)? `epsilon` $epsilon `groups` $groups `into` $init attr-dict `:`
    functional-type(operands, results)
  }];
}

def Kernel_SoftmaxOp : Kernel_RowWiseOp<"softmax", 5> {  // compare, subtract, exponential, add, multiply
  let summary = "softmax of every row; see `talc.softmax`";
}

def Kernel_QuantizeOp : Kernel_ComputeOp<"quantize"> {
  let summary = "quantizes activations to int8 codes with scales, or converts them to bf16; see `talc.quantize`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$init);
  let assemblyFormat = "$step `,` $x `into` $init attr-dict `:` functional-type(operands, results)";
}

def Kernel_LogSoftmaxOp : Kernel_ComputeOp<"log_softmax"> {
  let summary = "log-probabilities of words, some of which are in clusters; see `talc.log_softmax`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$init, DenseI64ArrayAttr:$tails);
  let assemblyFormat = [{
    $step `,` $x `tails` $tails `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_RouteOp : Kernel_ComputeOp<"route"> {
  let summary = "keeps the largest features of every row; see `talc.route`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Optional<Kernel_Data>:$bias, Kernel_Data:$init, I64Attr:$count,
                       UnitAttr:$normalized, DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$topk_groups, DefaultValuedAttr<I64Attr, "1">:$group_best);
  let assemblyFormat = [{
    $step `,` $x (`plus` $bias^)? `to` $count (`normalized` $normalized^)? `into` $init attr-dict `:`
    functional-type(operands, results)
  }];
}

def Kernel_JoinOp : Kernel_ComputeOp<"join"> {
  let summary = "concatenates the features of each head of x and y; see `talc.join`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$y, Kernel_Data:$init, I64Attr:$heads);
  let assemblyFormat = [{
    $step `,` $x `,` $y `heads` $heads `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_RopeOp : Kernel_ComputeOp<"rope"> {
  let summary = "rotary embedding from a table of cosines and sines; see `talc.rope`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$table, Kernel_Data:$init, I64Attr:$heads,
                       DefaultValuedAttr<I64Attr, "0">:$last, DefaultValuedAttr<I64Attr, "0">:$digits);
  let assemblyFormat = [{
    $step `,` $x `,` $table `heads` $heads `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_GatherOp : Kernel_ComputeOp<"gather"> {
  let summary = "init[t] = table[index(t) + offset]";
  let description = [{
    index(t) is, of token t, its id (`ids`), its position (`positions`), its token type (`types`), or the number of tokens
    before it that are not `padding`, -1 for those that are (`counted`, see `talc.position`); or the index of the t-th
    token that is wanted for the result `output` (`outputs`). A table of rank 3 is packed: [V/L, D, L]. `partial`: the
    table has only some of the rows, the others are zero; offset may then be negative.
  }];
  let arguments = (ins Kernel_GatherIndexAttr:$index, Kernel_Step:$step, Kernel_Data:$table, Kernel_Data:$init,
                       I64Attr:$offset, DefaultValuedAttr<I64Attr, "0">:$output, OptionalAttr<I64Attr>:$padding,
                       UnitAttr:$partial);
  let assemblyFormat = [{
    `` $index $step `,` $table `plus` $offset (`partial` $partial^)? `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

// Writes a memory besides its init.
def Kernel_MemoryOp : Kernel_Op<"memory", [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                           DeclareOpInterfaceMethods<ComputeOpInterface, ["getDivision", "getTaskSpace"]>]> {
  let summary = "reads and writes the compressive memory of earlier segments; see `talc.memory`";
  let description = [{
    local, queries and init [T, heads*width], keys and values [T, kv_heads*width], gates [heads]. A task is a head of the
    memory: it takes all tokens of a sequence in turn, since each sum is one chain in the order of tokens.
  }];
  let arguments = (ins Talc_MemoryUpdateAttr:$update, Kernel_Step:$step, Kernel_Data:$local, Kernel_Data:$queries,
                       Kernel_Data:$keys, Kernel_Data:$values, Talc_KvCache:$cache, Kernel_Data:$gates, Kernel_Data:$init,
                       I64Attr:$heads, UnitAttr:$local_first);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `` $update $step `,` $local `,` $queries `,` $keys `,` $values `,` $cache `gates` $gates `heads` $heads
    (`local_first` $local_first^)? `into` $init attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = "::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }\n";
  let hasVerifier = 1;
}

// Writes a KV cache instead of an init.
def Kernel_KvAppendOp : Kernel_Op<"kv_append", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                           DeclareOpInterfaceMethods<ComputeOpInterface, ["getDivision", "getTaskSpace"]>]> {
  let summary = "stores keys and values of the step's tokens in a KV cache; see `talc.kv_append`";
  let arguments = (ins Kernel_Step:$step, Talc_KvCache:$cache, Kernel_Data:$keys, Kernel_Data:$values);
  let assemblyFormat = [{
    $step `,` $cache `,` $keys `,` $values attr-dict `:` qualified(type($cache)) `,` type($keys) `,` type($values)
  }];
  let hasVerifier = 1;
}

#endif // COMPUTE_OPS
