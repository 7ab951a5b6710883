// SPDX-License-Identifier: Apache-2.0
// The operations of the talc dialect.
#ifndef TALC_OPS
#define TALC_OPS

include "dialects/talc/TalcOperands.td"

include "dialects/talc/QuantizeOp.td"

//===--- weights and KV caches -----------------------------------------------------------------------------------===//

def Talc_WeightOp : Talc_Op<"weight", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a named weight and where its values come from";
  let description = [{
    ```mlir
    talc.weight @wte : tensor<780x128xf32> = #talc.file<"model.safetensors", 4096, f32>
    talc.weight @layers.0.qkv : tensor<384x128xf32> = #talc.concat of [@layers.0.q, @layers.0.k, @layers.0.v]
    ```
    The type is the type of the value in the program; files may store it narrower. Recipes are evaluated once, when the
    artifact is written, one weight at a time.

    For quantization: `format` is the element type that `assign-formats` assigned to store the weight in. `quantize_to` is the
    element type of the blocks that a matrix is quantized to before anything is derived from it, minimizing the error
    weighted by `importance`: the mean squares of the features that each column multiplies; if several matrices are stored
    one after the other, such as experts, those of each in turn. `divergence` says by how much predictions diverge if only
    this matrix and those that share its format are quantized to q4_0. `offset` is the weight's place among all weights, in
    bytes (`plan-memory`).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Talc_Weights>:$type, AnyAttr:$source,
                       OptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "weights">>:$of,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<TypeAttr>:$format,
                       OptionalAttr<TypeAttr>:$quantize_to, OptionalAttr<DenseF32ArrayAttr>:$importance,
                       OptionalAttr<F64Attr>:$divergence, OptionalAttr<I64Attr>:$offset);
  let builders = [OpBuilder<(ins "::mlir::StringAttr":$name, "::mlir::TypeAttr":$type, "::mlir::Attribute":$source,
                                 "::mlir::ArrayAttr":$of, "::mlir::StringAttr":$visibility), [{
    build($_builder, $_state, name, type, source, of, visibility, nullptr, nullptr, nullptr, nullptr, nullptr);
  }]>];
  let assemblyFormat = "$sym_name `:` $type `=` $source (`of` $of^)? attr-dict";
  let hasVerifier = 1;
}

def Talc_GetWeightOp : Talc_Op<"get_weight", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Talc_Weights:$result);
  let assemblyFormat = "$name `:` type($result) attr-dict";
}

def Talc_DeriveOp : Talc_Op<"derive", [Pure]> {
  let summary = "a weight that follows from other weights";
  let description = [{
    ```mlir
    %qkv = talc.derive #talc.concat of (%q, %k, %v) : (...) -> tensor<384x128xf32>
    ```
    The same recipe as on a `talc.weight`, but on values, so that a rewrite inside a repeated block stays local.
    `hoist-recipes` moves every one of them out to the weights' symbols. #talc.rotary_table and #talc.fill need no other
    weights: `talc.derive #talc.fill<0.0> of () : () -> tensor<64xf32>`. `format` is that of a talc.weight.
  }];
  let arguments = (ins AnyAttr:$recipe, Variadic<Talc_Weights>:$sources, OptionalAttr<TypeAttr>:$format);
  let results = (outs Talc_Weights:$result);
  let assemblyFormat = "$recipe `of` `(` $sources `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Attribute":$recipe, "::mlir::ValueRange":$sources,
                                 "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$element), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get(shape, element), recipe, sources, nullptr);
  }]>, OpBuilder<(ins "::mlir::Type":$result, "::mlir::Attribute":$recipe, "::mlir::ValueRange":$sources), [{
    build($_builder, $_state, result, recipe, sources, nullptr);
  }]>];
}

def Talc_KvCacheOp : Talc_Op<"kv_cache", [Symbol]> {
  let summary = "keys and values that every sequence keeps between steps";
  let description = [{
    ```mlir
    talc.kv_cache @layers.0.cache : !talc.kv_cache<2 x 64 x 1024>
    ```
    `offset` is its place in the memory of a sequence, in bytes (`plan-memory`).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Talc_KvCache>:$type, OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<I64Attr>:$offset);
  let builders = [OpBuilder<(ins "::mlir::StringAttr":$name, "::mlir::TypeAttr":$type, "::mlir::StringAttr":$visibility), [{
    build($_builder, $_state, name, type, visibility, nullptr);
  }]>, OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::Type":$type, "::mlir::StringAttr":$visibility), [{
    build($_builder, $_state, $_builder.getStringAttr(name), ::mlir::TypeAttr::get(type), visibility, nullptr);
  }]>];
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Talc_GetKvCacheOp : Talc_Op<"get_kv_cache", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the handle of a KV cache";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Talc_KvCache:$result);
  let assemblyFormat = "$name `:` qualified(type($result)) attr-dict";
}

def Talc_KvAppendOp : Talc_Op<"kv_append", [MemoryEffects<[MemWrite]>, AllTypesMatch<["keys", "values"]>]> {
  let summary = "stores keys and values of the step's tokens in a KV cache";
  let description = [{
    Row t of `keys` and `values` ([T, heads*width]) goes to the slot and position that `sequences` gives for token t.
    Positions at or beyond the capacity are refused before the step runs.
  }];
  let arguments = (ins Talc_KvCache:$cache, Talc_Activations:$keys, Talc_Activations:$values,
                       Talc_Sequences:$sequences);
  let assemblyFormat = "$cache `,` $keys `,` $values `,` $sequences attr-dict `:` qualified(type($cache)) `,` type($keys)";
  let hasVerifier = 1;
}

def Talc_KvReadOp : Talc_Op<"kv_read", [MemoryEffects<[MemRead]>]> {
  let summary = "the keys and values of the step's sequences, past and present";
  let description = [{
    The keys (values) of every sequence in the step from position 0 to its last token in this step, laid end to end:
    [sum of lengths, heads*width]. For the role source: all tokens of every sequence's source.
  }];
  let arguments = (ins Talc_KvCache:$cache, Talc_Sequences:$sequences);
  let results = (outs Talc_Activations:$keys, Talc_Activations:$values);
  let assemblyFormat = "$cache `,` $sequences attr-dict `:` qualified(type($cache)) `->` type($keys) `,` type($values)";
  let hasVerifier = 1;
}

//===--- lookups and selections ----------------------------------------------------------------------------------===//

def Talc_EmbeddingOp : Talc_Op<"embedding", [Pure]> {
  let summary = "one row of a table per token id";
  let description = [{
    result[t] = table[ids[t]]: [T] x [V, D] -> [T, D]. A table that is also the vocabulary projection may be packed:
    [ceil(V/lanes), D, lanes] (see #talc.pack), so that it is stored once.

    With `first` = F the table has the rows of the ids from F on: result[t] = table[ids[t] - F], zero for other ids. Several
    tables of different widths may so make up a vocabulary (Baevski and Auli, arXiv 1809.10853).
  }];
  let arguments = (ins Talc_TokenIds:$ids, Talc_Weights:$table, OptionalAttr<I64Attr>:$first);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$ids `,` $table (`from` $first^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Talc_PositionOp : Talc_Op<"position", [Pure]> {
  let summary = "one row of a table per token position (learned positions)";
  let description = [{
    result[t] = table[position(t) + offset]: [P, D] -> [T, D].

    With `ids`, tokens with the id `padding` take no position: position(t) is the number of other tokens before t in its
    sequence, and a padding token gets the row before the first, table[offset - 1] (RoBERTa). Sequences must then be
    complete in every step: the model is an encoder.
  }];
  let arguments = (ins Talc_Sequences:$sequences, Talc_Matrix:$table, Optional<Talc_TokenIds>:$ids,
                       DefaultValuedAttr<I64Attr, "0">:$offset, OptionalAttr<I64Attr>:$padding);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    $sequences `,` $table (`of` $ids^ `:` type($ids) `without` $padding)? attr-dict `:` type($table) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Talc_TokenTypeOp : Talc_Op<"token_type", [Pure]> {
  let summary = "one row of a table per token type (which of two texts a token belongs to)";
  let description = "result[t] = table[type(t)]: [types, D] -> [T, D]. The type is 0 unless the caller says otherwise.";
  let arguments = (ins Talc_Sequences:$sequences, Talc_Matrix:$table);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$sequences `,` $table attr-dict `:` type($table) `->` type($result)";
  let hasVerifier = 1;
}

def Talc_SelectOp : Talc_Op<"select", [Pure]> {
  let summary = "selects the tokens whose result the caller of the step wants";
  let description = [{
    By default the last token of every sequence: [T, N] -> [R, N]. The LM head is then not computed for other tokens.
    `output` is the index of the result of the entry function for which the tokens are wanted.
  }];
  let arguments = (ins Talc_Activations:$x, Talc_Sequences:$sequences, DefaultValuedAttr<I64Attr, "0">:$output);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$x `,` $sequences attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Talc_SliceOp : Talc_Op<"slice", [Pure, Talc_KeepsRows]> {
  let summary = "a range of features";
  let description = "result = x[:, offset : offset + width], the width being that of the result type.";
  let arguments = (ins Talc_Activations:$x, I64Attr:$offset);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$x `at` $offset attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Talc_JoinOp : Talc_Op<"join", [Pure, Talc_KeepsRows]> {
  let summary = "concatenates the features of each head of x and y";
  let description = [{
    [T, heads*a] and [T, heads*b] -> [T, heads*(a+b)]: head h of the result is head h of x, then head h of y.
  }];
  let arguments = (ins Talc_Activations:$x, Talc_Activations:$y, I64Attr:$heads);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$x `,` $y `heads` $heads attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- layers --------------------------------------------------------------------------------------------------===//

def Talc_LinearOp : Talc_Op<"linear", [Pure, Talc_KeepsRows]> {
  let summary = "x * transpose(weight) + bias";
  let description = [{
    [T, K] x [N, K] (+ [N]) -> [T, N]. One f32 sum per output, k ascending. The weight may be packed:
    [ceil(N/lanes), K, lanes] (see #talc.pack); the bias may then be padded to ceil(N/lanes)*lanes (see #talc.pad).

    `groups` = G: each of G groups of neighboring outputs depends on one group of neighboring features: [T, G*S] x [N, K] ->
    [T, N], output n on the first K of the S features of group n / (N/G). Packed, each group has panels of its own.
  }];
  let arguments = (ins Talc_MatmulInput:$x, Talc_Weights:$weight, Optional<Talc_Vector>:$bias,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Talc_GatedLinearOp : Talc_Op<"gated_linear", [Pure, Talc_KeepsRows]> {
  let summary = "activation(x * transpose(gate)) * (x * transpose(up))";
  let description = [{
    ```mlir
    %y = talc.gated_linear silu %x, %gate, %up : (tensor<?x32xf32>, tensor<40x32xf32>, tensor<40x32xf32>) -> tensor<?x40xf32>
    %y = talc.gated_linear silu %x, %panels : (tensor<?x32xf32>, tensor<5x32x16xbf16>) -> tensor<?x40xf32>
    ```
    The first half of a gated feed-forward layer (arXiv 2002.05202): [T, K] x [F, K] x [F, K] -> [T, F], sums as in
    `talc.linear`. Either two matrices, gate and up, or one packed weight [ceil(F/group), K, 2*group] that holds both
    (#talc.pack of #talc.interleave<group>): panel p has the gate's rows [p*group, (p+1)*group) in its first `group`
    lanes and the same rows of up in the others, so that one panel yields `group` features.
  }];
  let arguments = (ins Talc_ActivationKindAttr:$kind, Talc_MatmulInput:$x,
                       Talc_Weights:$weight, Optional<Talc_Matrix>:$up);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "`` $kind $x `,` $weight (`,` $up^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Talc_NormOp : Talc_Op<"norm", [Pure, Talc_KeepsRows, AllTypesMatch<["x", "result"]>]> {
  let summary = "layer or root-mean-square normalization";
  let description = [{
    Over each group of N/groups neighboring features:
      layer: scale * (x - mean) / sqrt(variance + epsilon) + bias    (biased variance; Ba et al. 2016)
      rms:   scale * x / sqrt(mean(x^2) + epsilon)                   (Zhang and Sennrich 2019)
    `groups` = heads normalizes every head by itself (q/k norm). scale and bias have N/groups elements, the same for all
    groups, or N.
  }];
  let arguments = (ins Talc_NormKindAttr:$kind, Talc_Activations:$x, Talc_Vector:$scale, Optional<Talc_Vector>:$bias,
                       F64Attr:$epsilon, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    `` $kind $x `,` $scale (`bias` $bias^)? `epsilon` $epsilon attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Talc_SoftmaxOp : Talc_Op<"softmax", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "e^x_i / sum_j e^x_j over the features of every row";
  let description = [{
    Each row's largest feature is subtracted first, so that nothing overflows. At least one feature has to be finite, none
    may be infinity. Source: Bridle, Probabilistic interpretation of feedforward classification network outputs, 1990.
  }];
  let arguments = (ins Talc_Activations:$x);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}

def Talc_LogSoftmaxOp : Talc_Op<"log_softmax", [Pure, Talc_KeepsRows]> {
  let summary = "log-probabilities of words, some of which are in clusters";
  let description = [{
    x [T, N + C] -> [T, N]: the scores of N words, then those of C clusters. The cluster c has the words [tails_c, tails_(c+1)),
    the last one those up to N; the words before tails_1 are not in a cluster. With log p = x - log(sum e^x) over these words
    and all clusters, and log q the same over the words of a cluster, the result of a word is its log p, or the log p of its
    cluster plus its log q. Source: Grave et al. 2017 (arXiv 1609.04309).
  }];
  let arguments = (ins Talc_Activations:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$tails);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$x (`tails` $tails^)? attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Talc_RopeOp : Talc_Op<"rope", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates the first `rotary` features of each of `heads` heads by angles position * f_i, in half-split pairs
    (i, i + rotary/2):
      y_i = x_i cos - x_(i+rotary/2) sin;   y_(i+rotary/2) = x_(i+rotary/2) cos + x_i sin
      f_i = base^(-2i/rotary), changed by `scaling` (#talc.linear_scaling and the others of its kind)
    The other features pass through. Source: RoFormer (arXiv 2104.09864); pairs as in Hugging Face checkpoints.
    `last` = P > 0: positions beyond P count as P.
    `table`, added by `tabulate-rope`, holds the cosines and sines (#talc.rotary_table) and does not change results. With
    `digits` = D it has them for the digits of a position in base D, and the rotations of all three digits are composed.
  }];
  let arguments = (ins Talc_Activations:$x, Talc_Sequences:$sequences, Optional<Talc_Matrix>:$table, I64Attr:$heads,
                       I64Attr:$rotary, F64Attr:$base,
                       OptionalAttr<AnyAttrOf<[Talc_LinearScaling, Talc_Llama3Scaling, Talc_YarnScaling,
                                               Talc_DynamicScaling, Talc_ListedScaling]>>:$scaling,
                       DefaultValuedAttr<I64Attr, "0">:$last, DefaultValuedAttr<I64Attr, "0">:$digits);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    $x `,` $sequences `heads` $heads `rotary` $rotary `base` $base (`scaling` `(` $scaling^ `)`)?
    (`table` $table^ `:` type($table))? attr-dict `:` type($x)
  }];
  let hasVerifier = 1;
}

def Talc_ActivationOp : Talc_Op<"activation", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "an elementwise nonlinearity";
  let description = [{
    relu max(x, 0); gelu x/2 (1 + erf(x/sqrt 2)); gelu_tanh x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)));
    silu x*sigmoid(x); tanh; sigmoid; quick_gelu x*sigmoid(1.702 x); relu_squared relu(x)^2;
    softplus log(1 + e^x).
  }];
  let arguments = (ins Talc_ActivationKindAttr:$kind, Talc_Activations:$x);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "`` $kind $x attr-dict `:` type($x)";
}

def Talc_AddOp : Talc_Op<"add", [Pure, Commutative, SameOperandsAndResultType]> {
  let summary = "elementwise sum";
  let arguments = (ins Talc_Activations:$lhs, Talc_Activations:$rhs);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Talc_MulOp : Talc_Op<"mul", [Pure, Commutative, SameOperandsAndResultType]> {
  let summary = "elementwise product";
  let arguments = (ins Talc_Activations:$lhs, Talc_Activations:$rhs);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Talc_ScaleOp : Talc_Op<"scale", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "multiplies every element by a constant";
  let arguments = (ins Talc_Activations:$x, F64Attr:$factor);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Talc_ClampOp : Talc_Op<"clamp", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "clamps every element to [-bound, bound]";
  let description = "min(max(x, -bound), bound).";
  let arguments = (ins Talc_Activations:$x, F64Attr:$bound);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$x `to` $bound attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Talc_RouteOp : Talc_Op<"route", [Pure, Talc_KeepsRows, AllTypesMatch<["x", "result"]>]> {
  let summary = "keeps the largest features of every row, and zeroes the others (MoE router)";
  let description = [{
    It keeps the `count` largest, the first of equal ones; zeros are never selected. `normalized`: divided by their sum.
    Features must not be negative: they are the probabilities of experts, and the result says which experts a token is
    routed to, and with which weights.
    Source: Shazeer et al. 2017 (arXiv 1701.06538); Mixtral (arXiv 2401.04088).

    `bias` [E] is added only where features are compared. `groups` = G: the features are G groups of neighbors, and only
    the `topk_groups` groups are compared whose `group_best` largest features have the largest sum, the first of equal
    ones (DeepSeek-V2, arXiv 2405.04434, and V3, arXiv 2412.19437).
  }];
  let arguments = (ins Talc_Activations:$x, Optional<Talc_Vector>:$bias, I64Attr:$count, UnitAttr:$normalized,
                       DefaultValuedAttr<I64Attr, "1">:$groups, DefaultValuedAttr<I64Attr, "1">:$topk_groups,
                       DefaultValuedAttr<I64Attr, "1">:$group_best);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    $x (`plus` $bias^ `:` type($bias))? `to` $count (`normalized` $normalized^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Talc_ExpertsOp : Talc_Op<"experts", [Pure, AttrSizedOperandSegments]> {
  let summary = "mixture of experts: gated feed-forward layers, of which every token uses a few";
  let description = [{
    ```mlir
    %y = talc.experts silu %x, %routes, %gate, %up down %down chosen 2
       : (tensor<?x32xf32>, tensor<?x8xf32>, tensor<320x32xf32>, tensor<320x32xf32>, tensor<256x40xf32>) -> tensor<?x32xf32>
    ```
    result[t] = sum over e of routes[t, e] * (activation(x[t] * transpose(gate_e)) * (x[t] * transpose(up_e))) *
    transpose(down_e), e ascending, over the experts whose routes[t, e] is not zero: at most `chosen` for a token. The
    weights of other experts are not read.

    Experts are stored one after the other: gate and up [E*F, K], down [E*N, F]. Packed: gate and up in one weight
    [E*ceil(F/group), K, 2*group] as in `talc.gated_linear`, down [E*ceil(N/lanes), F, lanes], each expert in panels of its
    own.

    With biases, gate_bias and up_bias [E*F] and down_bias [E*N] are added to the three products. `clamp` = c > 0
    (gpt-oss): the gate is at most c, and up, within c on either side, counts from 1:
      activation(min(gate, c)) * (min(max(up, -c), c) + 1)

    `rounding` = T: the input of a packed down_e is quantized to T first, as by `talc.quantize`.
  }];
  let arguments = (ins Talc_ActivationKindAttr:$kind, Talc_MatmulInput:$x, Talc_Activations:$routes, Talc_Weights:$gate,
                       Optional<Talc_Matrix>:$up, Talc_Weights:$down, Variadic<Talc_Vector>:$biases, I64Attr:$chosen,
                       DefaultValuedAttr<F64Attr, "0.0">:$clamp, OptionalAttr<TypeAttr>:$rounding);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    `` $kind $x `,` $routes `,` $gate (`,` $up^)? `down` $down (`biases` $biases^)? `chosen` $chosen
    (`rounding` $rounding^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===--- attention -----------------------------------------------------------------------------------------------===//

include "dialects/talc/AttentionOps.td"

#endif // TALC_OPS
