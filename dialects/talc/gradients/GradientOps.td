// SPDX-License-Identifier: Apache-2.0
// The operations of backward functions, which `differentiate` makes.
//
// Names end in dgrad where the result is the gradient of activations, and in wgrad where the gradient of a weight is
// added to its buffer, a memref of the weight's shape. `gradient` is always that of the result of the operation that
// is differentiated. Sums over tokens are ascending, behind what the buffer already holds.
#ifndef TALC_GRADIENT_OPS
#define TALC_GRADIENT_OPS

include "dialects/talc/TalcOperands.td"

def Talc_GradientBuffer : MemRefOf<[F32]>;

class Talc_WgradOp<string name, list<Trait> traits = []>
    : Talc_Op<name, !listconcat([MemoryEffects<[MemRead, MemWrite]>], traits)>;

def Talc_GetGradientOp : Talc_Op<"get_gradient", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the buffer of the gradient of a weight";
  let description = [{
    ```mlir
    %g = talc.get_gradient @wte : memref<780x128xf32>
    ```
    It has the shape of the weight and holds the sum of all gradients since the last update.
  }];
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Talc_GradientBuffer:$result);
  let assemblyFormat = "$name `:` type($result) attr-dict";
}

//===--- layers --------------------------------------------------------------------------------------------------===//

def Talc_LinearDgradOp : Talc_Op<"linear_dgrad", [Pure, Talc_KeepsRows]> {
  let summary = "gradient * weight: the gradient of the features of talc.linear";
  let description = [{
    [T, N] x [N, K] -> [T, G*S]: feature k of group g gets the sum over the outputs n of the group, ascending, of
    gradient[t, n] * weight[n, k]; features of a group beyond K get zero.
  }];
  let arguments = (ins Talc_Activations:$gradient, Talc_Matrix:$weight, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$gradient `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Talc_LinearWgradOp : Talc_WgradOp<"linear_wgrad"> {
  let summary = "adds transpose(gradient) * x: the gradient of the weight of talc.linear";
  let description = "buffer[n, k] += sum over t of gradient[t, n] * x[t, k], k counted in the group of n.";
  let arguments = (ins Talc_Activations:$gradient, Talc_Activations:$x, Talc_GradientBuffer:$buffer,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let assemblyFormat = "$gradient `,` $x `into` $buffer attr-dict `:` type($gradient) `,` type($x) `,` type($buffer)";
  let hasVerifier = 1;
}

def Talc_SumRowsOp : Talc_WgradOp<"sum_rows"> {
  let summary = "adds the sum of all tokens: the gradient of a bias";
  let description = "buffer[n % L] += sum over t of gradient[t, n]; L, the length of the buffer, divides N.";
  let arguments = (ins Talc_Activations:$gradient, Talc_GradientBuffer:$buffer);
  let assemblyFormat = "$gradient `into` $buffer attr-dict `:` type($gradient) `,` type($buffer)";
  let hasVerifier = 1;
}

def Talc_NormDgradOp : Talc_Op<"norm_dgrad", [Pure, Talc_KeepsRows, AllTypesMatch<["gradient", "x", "result"]>]> {
  let summary = "the gradient of the features of talc.norm";
  let description = [{
    Over each group, with w = gradient * scale, r = 1 / sqrt(variance + epsilon) (layer) or 1 / sqrt(mean(x^2) + epsilon)
    (rms), and h = (x - mean) * r:
      layer: r * (w - mean(w) - h * mean(w * h));   rms: r * w - x * r^3 * mean(w * x)
  }];
  let arguments = (ins Talc_NormKindAttr:$kind, Talc_Activations:$gradient, Talc_Activations:$x, Talc_Vector:$scale,
                       F64Attr:$epsilon, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    `` $kind $gradient `,` $x `,` $scale `epsilon` $epsilon attr-dict `:` type($x) `,` type($scale)
  }];
  let hasVerifier = 1;
}

def Talc_NormWgradOp : Talc_WgradOp<"norm_wgrad", [AllTypesMatch<["gradient", "x"]>]> {
  let summary = "adds the gradient of the scale of talc.norm";
  let description = [{
    buffer[i] += sum over t, and over the groups that share the scale, of gradient * h; see talc.norm_dgrad (rms: x * r).
  }];
  let arguments = (ins Talc_NormKindAttr:$kind, Talc_Activations:$gradient, Talc_Activations:$x,
                       Talc_GradientBuffer:$buffer, F64Attr:$epsilon, DefaultValuedAttr<I64Attr, "1">:$groups);
  let assemblyFormat = [{
    `` $kind $gradient `,` $x `into` $buffer `epsilon` $epsilon attr-dict `:` type($x) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Talc_ActivationDgradOp : Talc_Op<"activation_dgrad", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "gradient * f'(x) for the function f of talc.activation";
  let description = "The derivative of relu and relu_squared at 0 is 0.";
  let arguments = (ins Talc_ActivationKindAttr:$kind, Talc_Activations:$gradient, Talc_Activations:$x);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "`` $kind $gradient `,` $x attr-dict `:` type($result)";
}

def Talc_SoftmaxDgradOp : Talc_Op<"softmax_dgrad", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "the gradient of the features of talc.softmax, from its result y";
  let description = "y * (gradient - sum over the features of gradient * y).";
  let arguments = (ins Talc_Activations:$gradient, Talc_Activations:$y);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$gradient `,` $y attr-dict `:` type($result)";
}

def Talc_ClampDgradOp : Talc_Op<"clamp_dgrad", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "the gradient where x lies between the bounds of talc.clamp, zero elsewhere";
  let arguments = (ins Talc_Activations:$gradient, Talc_Activations:$x, F64Attr:$bound);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$gradient `,` $x `to` $bound attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Talc_RopeDgradOp : Talc_Op<"rope_dgrad", [Pure, AllTypesMatch<["gradient", "result"]>]> {
  let summary = "rotates back what talc.rope rotated";
  let description = "The transpose of the rotation, with the same angles and amplitude. Operands as those of talc.rope.";
  let arguments = (ins Talc_Activations:$gradient, Talc_Sequences:$sequences, Optional<Talc_Matrix>:$table,
                       I64Attr:$heads, I64Attr:$rotary, F64Attr:$base, OptionalAttr<AnyAttr>:$scaling,
                       DefaultValuedAttr<I64Attr, "0">:$last, DefaultValuedAttr<I64Attr, "0">:$digits);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    $gradient `,` $sequences `heads` $heads `rotary` $rotary `base` $base (`scaling` `(` $scaling^ `)`)?
    (`table` $table^ `:` type($table))? attr-dict `:` type($gradient)
  }];
  let hasVerifier = 1;
}

//===--- experts -------------------------------------------------------------------------------------------------===//

def Talc_RouteDgradOp : Talc_Op<"route_dgrad", [Pure, Talc_KeepsRows, SameOperandsAndResultType]> {
  let summary = "the gradient of the features of talc.route, from its result y";
  let description = [{
    Of the features that were kept (y is not zero): gradient; `normalized`: (gradient - sum over those of gradient * y) / sum
    over those of x. Others get zero: which features are kept does not follow x smoothly.
  }];
  let arguments = (ins Talc_Activations:$gradient, Talc_Activations:$x, Talc_Activations:$y, UnitAttr:$normalized);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$gradient `,` $x `,` $y (`normalized` $normalized^)? attr-dict `:` type($result)";
}

def Talc_ExpertsDgradOp : Talc_Op<"experts_dgrad", [Pure, AllTypesMatch<["x", "dx"]>, AllTypesMatch<["routes", "droutes"]>]> {
  let summary = "the gradients of the features and of the routing weights of talc.experts";
  let description = [{
    Operands are those of talc.experts; its matrices are not packed. A token passes its gradient only to the experts whose
    routing weight is not zero.
  }];
  let arguments = (ins Talc_ActivationKindAttr:$kind, Talc_Activations:$gradient, Talc_Activations:$x,
                       Talc_Activations:$routes, Talc_Matrix:$gate, Talc_Matrix:$up, Talc_Matrix:$down,
                       Variadic<Talc_Vector>:$biases, DefaultValuedAttr<F64Attr, "0.0">:$clamp);
  let results = (outs Talc_Activations:$dx, Talc_Activations:$droutes);
  let assemblyFormat = [{
    `` $kind $gradient `,` $x `,` $routes `,` $gate `,` $up `down` $down (`biases` $biases^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Talc_ExpertsWgradOp : Talc_WgradOp<"experts_wgrad", [AttrSizedOperandSegments]> {
  let summary = "adds the gradients of all weights of talc.experts";
  let description = "`buffers` are those of gate, up, down and of the biases, in this order.";
  let arguments = (ins Talc_ActivationKindAttr:$kind, Talc_Activations:$gradient, Talc_Activations:$x,
                       Talc_Activations:$routes, Talc_Matrix:$gate, Talc_Matrix:$up, Talc_Matrix:$down,
                       Variadic<Talc_Vector>:$biases, Variadic<Talc_GradientBuffer>:$buffers,
                       DefaultValuedAttr<F64Attr, "0.0">:$clamp);
  let assemblyFormat = [{
    `` $kind $gradient `,` $x `,` $routes `,` $gate `,` $up `down` $down (`biases` $biases^)? `into` $buffers attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
}

//===--- selections and lookups ----------------------------------------------------------------------------------===//

def Talc_SpreadOp : Talc_Op<"spread", [Pure]> {
  let summary = "puts the rows that talc.select took back to their tokens; other tokens get zero";
  let arguments = (ins Talc_Activations:$gradient, Talc_Sequences:$sequences, DefaultValuedAttr<I64Attr, "0">:$output);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$gradient `,` $sequences attr-dict `:` type($gradient) `->` type($result)";
  let hasVerifier = 1;
}

def Talc_PlaceOp : Talc_Op<"place", [Pure, Talc_KeepsRows]> {
  let summary = "puts the features that talc.slice took back to their place; other features get zero";
  let arguments = (ins Talc_Activations:$gradient, I64Attr:$offset);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$gradient `at` $offset attr-dict `:` type($gradient) `->` type($result)";
  let hasVerifier = 1;
}

def Talc_SliceHeadsOp : Talc_Op<"slice_heads", [Pure, Talc_KeepsRows]> {
  let summary = "a range of the features of each head: what talc.join concatenated";
  let arguments = (ins Talc_Activations:$gradient, I64Attr:$heads, I64Attr:$offset);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = "$gradient `heads` $heads `at` $offset attr-dict `:` type($gradient) `->` type($result)";
  let hasVerifier = 1;
}

def Talc_EmbeddingWgradOp : Talc_WgradOp<"embedding_wgrad"> {
  let summary = "adds the gradient of each token to the row of its id";
  let description = "buffer[ids[t] - first] += gradient[t], t ascending, where the table of talc.embedding has the id.";
  let arguments = (ins Talc_TokenIds:$ids, Talc_Activations:$gradient, Talc_GradientBuffer:$buffer,
                       DefaultValuedAttr<I64Attr, "0">:$first);
  let assemblyFormat = "$ids `,` $gradient `into` $buffer attr-dict `:` type($ids) `,` type($gradient) `,` type($buffer)";
  let hasVerifier = 1;
}

def Talc_PositionWgradOp : Talc_WgradOp<"position_wgrad"> {
  let summary = "adds the gradient of each token to the row of its position; see talc.position";
  let arguments = (ins Talc_Sequences:$sequences, Talc_Activations:$gradient, Talc_GradientBuffer:$buffer,
                       Optional<Talc_TokenIds>:$ids, DefaultValuedAttr<I64Attr, "0">:$offset,
                       OptionalAttr<I64Attr>:$padding);
  let assemblyFormat = [{
    $sequences `,` $gradient (`of` $ids^ `:` type($ids) `without` $padding)? `into` $buffer attr-dict
    `:` type($gradient) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Talc_TokenTypeWgradOp : Talc_WgradOp<"token_type_wgrad"> {
  let summary = "adds the gradient of each token to the row of its type";
  let arguments = (ins Talc_Sequences:$sequences, Talc_Activations:$gradient, Talc_GradientBuffer:$buffer);
  let assemblyFormat = "$sequences `,` $gradient `into` $buffer attr-dict `:` type($gradient) `,` type($buffer)";
  let hasVerifier = 1;
}

//===--- attention and loss --------------------------------------------------------------------------------------===//

def Talc_AttentionDgradOp : Talc_WgradOp<"attention_dgrad", [AttrSizedOperandSegments,
                                                             AllTypesMatch<["gradient", "queries", "dqueries"]>,
                                                             AllTypesMatch<["keys", "values", "dkeys", "dvalues"]>]> {
  let summary = "the gradients of queries, keys and values of talc.attention";
  let description = [{
    With the probabilities p of the keys that a query sees, and d = p * (gradient . value - sum over keys of p * (gradient .
    value)): dvalues += p * gradient, and with the derivative c' of the cap dqueries += scale * c' * d * key, dkeys += scale *
    c' * d * query. Keys are those of the step. The gradient of each sink, -p * (sum over keys of p * (gradient . value)), is
    added to `buffer`. Source: Dao et al. 2022 (arXiv 2205.14135), appendix B.
  }];
  let arguments = (ins Talc_Activations:$gradient, Talc_Activations:$queries, Talc_Activations:$keys,
                       Talc_Activations:$values, Talc_Sequences:$sequences, Optional<Talc_Matrix>:$bias,
                       Optional<Talc_Vector>:$sinks, Optional<Talc_GradientBuffer>:$buffer,
                       Talc_MaskKindAttr:$mask, I64Attr:$heads, I64Attr:$kv_heads,
                       F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$window, DefaultValuedAttr<F64Attr, "0.0">:$cap,
                       UnitAttr:$absolute);
  let results = (outs Talc_Activations:$dqueries, Talc_Activations:$dkeys, Talc_Activations:$dvalues);
  let assemblyFormat = [{
    `` $mask $gradient `,` $queries `,` $keys `,` $values `,` $sequences `heads` $heads `,` $kv_heads `scale` $scale
    (`bias` $bias^ `:` type($bias))? (`sinks` $sinks^ `:` type($sinks))? (`into` $buffer^ `:` type($buffer))? attr-dict
    `:` type($queries) `,` type($keys)
  }];
  let hasVerifier = 1;
}

def Talc_CrossEntropyOp : Talc_Op<"cross_entropy", [Pure, AllTypesMatch<["logits", "gradient"]>]> {
  let summary = "the loss of each token, and the gradient of its logits";
  let description = [{
    logits [R, V], labels [R], one of them for each row; -1: the row has none. With e = `smoothing` the loss of a row is
    (1 - e) * -log p(label) - e / V * sum over v of log p(v), zero without label; `gradient` is that of the sum of all
    losses divided by the number of labels of the step.
  }];
  let arguments = (ins Talc_Activations:$logits, Talc_TokenIds:$labels, DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs Talc_Activations:$loss, Talc_Activations:$gradient);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($loss)";
  let hasVerifier = 1;
}

#endif // TALC_GRADIENT_OPS
