// SPDX-License-Identifier: Apache-2.0
// The talc dialect: what a transformer computes, in the terms that papers use.
#ifndef TALC_DIALECT
#define TALC_DIALECT

include "dialects/talc/TalcBase.td"

//===--- types ---------------------------------------------------------------------------------------------------===//

class Talc_Type<string typeName, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Talc_Dialect, typeName, traits> {
  let mnemonic = typeMnemonic;
}

def Talc_Sequences : Talc_Type<"Sequences", "sequences">, BuildableType<"$_builder.getType<::talc::SequencesType>()"> {
  let summary = "borders, positions and KV-cache slots of the sequences in a step";
  let description = [{
    One value per step: which tokens belong to which sequence, the position of every token in its sequence, the KV-cache
    slot of each sequence, and the tokens whose result is wanted.
  }];
}

def Talc_FormatOfBlocks : TypeParameter<"::talc::FormatRef", "a storage format of quant blocks"> {
  let parser = "::talc::parseFormatOfBlocks($_parser)";
  let printer = "$_printer << llvm::StringRef($_self->name)";
}

def Talc_Stored : Talc_Type<"Stored", "stored", [MemRefElementTypeInterface]> {
  let summary = "one value of a storage format that stores values in quant blocks";
  let description = [{
    The element type of a quantized weight: `tensor<512x2048x!talc.stored<NAME>>` has 512 rows of 2048 values, and blocks
    of neighbors in a row are stored together. Shapes count values, sizes in bytes count blocks; see
    dialects/talc/formats/StorageFormat.h. Float formats are types of MLIR (f32, f16, bf16).
  }];
  let parameters = (ins Talc_FormatOfBlocks:$format);
  let assemblyFormat = "`<` $format `>`";
}

class Talc_Enum<string enumName, string enumSummary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<enumName, enumSummary, cases> {
  let cppNamespace = "::talc";
  let genSpecializedAttr = 0;
}

def Talc_KvCacheRole : Talc_Enum<"KvCacheRole", "whose tokens a KV cache holds, and for how long", [
  I32EnumAttrCase<"sequence", 0>,  // those of the sequence, until it ends
  I32EnumAttrCase<"source", 1>,    // those of the source of a sequence, until the next source
  I32EnumAttrCase<"step", 2>,      // those of the sequence, until the step ends
  I32EnumAttrCase<"memory", 3>,     // the compressive memory of a sequence's segments; see talc.memory
  I32EnumAttrCase<"recurrence", 4>]>;  // what a recurrence keeps of all earlier tokens of the sequence

def Talc_KvCache : Talc_Type<"KvCache", "kv_cache"> {
  let summary = "keys and values that sequences keep between steps";
  let description = [{
    `!talc.kv_cache<2 x 64 x 1024>`: for each sequence slot, keys and values of 2 heads of width 64 for at most 1024 tokens.
    It is a handle to memory that is updated in place. The target chooses the storage format and layout, which are part of
    the type after `layout-kv-cache`: `!talc.kv_cache<2 x 64 x 1024 in #kernel.kv_panels<16 x f32>>`.

    `!talc.kv_cache<2 x 64 x 1024, source>`: the encoder of an encoder-decoder appends its tokens, the decoder reads them in
    every step (cross-attention). `step`: the cache that `materialize-kv` makes for attention among the tokens of a step.
    `memory`: the matrices of `talc.memory` for each head, whose size does not depend on the number of tokens; the capacity
    is that of a segment.

    `!talc.kv_cache<4 x 64 x 32, recurrence>`: the state of a recurrence, for each of 4 heads a matrix of 32 rows and 64
    columns of f32. It counts as zero before the first token of a sequence. One op of an entry reads and writes it.

    `!talc.kv_cache<2 x 64 x 640 window 128>` is a ring: sequences may be of any length, and the cache holds their last 640
    tokens. Every attention over it has a window of at most 128 tokens, so that steps may have up to 640 - 128 + 1 tokens of
    a sequence. `sink_tokens 4`: it also holds the first 4 tokens of every sequence (at most 64).
  }];
  let parameters = (ins "int64_t":$heads, "int64_t":$width, "int64_t":$capacity,
                        DefaultValuedParameter<"::talc::KvCacheRole", "::talc::KvCacheRole::sequence">:$role,
                        DefaultValuedParameter<"int64_t", "0">:$window, DefaultValuedParameter<"int64_t", "0">:$sinkTokens,
                        OptionalParameter<"::talc::KvLayoutInterface">:$layout);
  let assemblyFormat = [{
    `<` $heads `x` $width `x` $capacity (`,` $role^)? (`window` $window^)? (`sink_tokens` $sinkTokens^)? (`in` $layout^)? `>`
  }];
  let builders = [
    TypeBuilder<(ins "int64_t":$heads, "int64_t":$width, "int64_t":$capacity, "::talc::KvCacheRole":$role), [{
      return $_get($_ctxt, heads, width, capacity, role, 0, 0, ::talc::KvLayoutInterface());
    }]>,
    TypeBuilder<(ins "int64_t":$heads, "int64_t":$width, "int64_t":$capacity, "int64_t":$window, "int64_t":$sinkTokens), [{
      return $_get($_ctxt, heads, width, capacity, ::talc::KvCacheRole::sequence, window, sinkTokens,
                   ::talc::KvLayoutInterface());
    }]>
  ];
  let extraClassDeclaration = [{
    bool isRing() const { return getWindow() > 0; }
    // Whether the capacity counts tokens, and not the rows of a state.
    bool holdsTokens() const { return getRole() != ::talc::KvCacheRole::recurrence; }
    // Maximal number of tokens of a sequence in a step; 0: limited by the capacity alone.
    int64_t getStepTokens() const { return isRing() ? getCapacity() - getWindow() + 1 : 0; }
    // The type must have a layout.
    int64_t getSlotBytes() {
      return getLayout().getSlotBytes(getHeads(), getWidth(), getCapacity()) +
             getLayout().getSlotBytes(getHeads(), getWidth(), getSinkTokens());
    }
    int64_t getTokenBytes() { return getLayout().getTokenBytes(getHeads(), getWidth()); }
  }];
  let genVerifyDecl = 1;
}

//===--- enumerations --------------------------------------------------------------------------------------------===//

def Talc_NormKind : Talc_Enum<"NormKind", "normalization", [
  I32EnumAttrCase<"layer", 0>, I32EnumAttrCase<"rms", 1>]>;
def Talc_NormKindAttr : EnumAttr<Talc_Dialect, Talc_NormKind, "norm">;

def Talc_ActivationKind : Talc_Enum<"ActivationKind", "activation function", [
  I32EnumAttrCase<"relu", 0>, I32EnumAttrCase<"gelu", 1>, I32EnumAttrCase<"gelu_tanh", 2>, I32EnumAttrCase<"silu", 3>,
  I32EnumAttrCase<"tanh", 4>, I32EnumAttrCase<"sigmoid", 5>, I32EnumAttrCase<"quick_gelu", 6>,
  I32EnumAttrCase<"relu_squared", 7>, I32EnumAttrCase<"softplus", 8>]>;
def Talc_ActivationKindAttr : EnumAttr<Talc_Dialect, Talc_ActivationKind, "function">;

def Talc_MaskKind : Talc_Enum<"MaskKind", "which keys a query sees", [
  I32EnumAttrCase<"full", 0>, I32EnumAttrCase<"causal", 1>, I32EnumAttrCase<"prefix", 2>]>;
def Talc_MaskKindAttr : EnumAttr<Talc_Dialect, Talc_MaskKind, "mask">;

def Talc_MemoryUpdate : Talc_Enum<"MemoryUpdate", "what a key adds to a memory", [
  I32EnumAttrCase<"linear", 0>,    // its value
  I32EnumAttrCase<"delta", 1>]>;   // its value minus what the memory yields for the key
def Talc_MemoryUpdateAttr : EnumAttr<Talc_Dialect, Talc_MemoryUpdate, "update">;

def Talc_RecurrenceUpdate : Talc_Enum<"RecurrenceUpdate", "what a key adds to the state of a recurrence", [
  I32EnumAttrCase<"additive", 0>,  // its value
  I32EnumAttrCase<"delta", 1>]>;   // its value minus what the state yields for the key
def Talc_RecurrenceUpdateAttr : EnumAttr<Talc_Dialect, Talc_RecurrenceUpdate, "change">;

//===--- attributes ----------------------------------------------------------------------------------------------===//

def Talc_LinearScaling : Talc_Attr<"LinearScaling", "linear_scaling"> {
  let summary = "rotary frequencies divided by a factor";
  let description = "Source: position interpolation (arXiv 2306.15595), `rope_type: linear`.";
  let parameters = (ins Talc_Real:$factor);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `factor` `=` $factor `>`";
}

def Talc_Llama3Scaling : Talc_Attr<"Llama3Scaling", "llama3_scaling"> {
  let summary = "rotary frequencies scaled by wavelength";
  let description = [{
    With wavelength l = 2*pi/f and original context O: l > O/low: f/factor; l < O/high: f; between, s = (O/l - low) /
    (high - low) blends ((1 - s)/factor + s) * f. `rope_type: llama3`.
  }];
  let parameters = (ins Talc_Real:$factor, Talc_Real:$low, Talc_Real:$high, "int64_t":$original);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `factor` `=` $factor `,` `low` `=` $low `,` `high` `=` $high `,` `original` `=` $original `>`";
}

def Talc_YarnScaling : Talc_Attr<"YarnScaling", "yarn_scaling"> {
  let summary = "rotary frequencies scaled by the number of turns in the original context";
  let description = [{
    With c(n) = rotary * ln(O / (2*pi*n)) / (2 * ln(base)), the pair that turns n times over the original context O:
    l = max(c(fast), 0), h = min(c(slow), rotary - 1), both rounded outwards if `truncate`; h = l + 0.001 if they are equal.
    Pair i keeps 1 - r of its frequency and gets r of f/factor, r = (i - l)/(h - l) within [0, 1]. Cosines and sines are
    multiplied by `amplitude`. Source: YaRN (arXiv 2309.00071), `rope_type: yarn`.
  }];
  let parameters = (ins Talc_Real:$factor, Talc_Real:$fast, Talc_Real:$slow, "int64_t":$original, "bool":$truncate,
                        Talc_Real:$amplitude);
  let genVerifyDecl = 1;
  let assemblyFormat = [{
    `<` `factor` `=` $factor `,` `fast` `=` $fast `,` `slow` `=` $slow `,` `original` `=` $original `,`
    `truncate` `=` $truncate `,` `amplitude` `=` $amplitude `>`
  }];
}

def Talc_DynamicScaling : Talc_Attr<"DynamicScaling", "dynamic_scaling"> {
  let summary = "a rotary base that grows with the sequence once it is longer than the original context";
  let description = [{
    A token at position p is rotated as the last one of a sequence of s = p + 1 tokens: with the original context O and
    s > O the base becomes base * (factor * s/O - (factor - 1))^(rotary / (rotary - 2)). Keys keep the rotation that they
    were stored with, so that results do not depend on how a sequence is cut into steps. `rope_type: dynamic`.
  }];
  let parameters = (ins Talc_Real:$factor, "int64_t":$original);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `factor` `=` $factor `,` `original` `=` $original `>`";
}

def Talc_ListedScaling : Talc_Attr<"ListedScaling", "listed_scaling"> {
  let summary = "rotary frequencies, each divided by a factor of its own";
  let description = [{
    One factor for each pair. Cosines and sines are multiplied by `amplitude`. Source: LongRoPE (arXiv 2402.13753),
    `rope_type: longrope`.
  }];
  let parameters = (ins "::mlir::DenseF64ArrayAttr":$factors, Talc_Real:$amplitude);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $factors `,` `amplitude` `=` $amplitude `>`";
}

// Sources of weights: where the values come from, or the recipe that makes them from other weights.

def Talc_FileSource : Talc_Attr<"FileSource", "file"> {
  let summary = "row-major values in a file";
  let description = [{
    `#talc.file<"model.safetensors", 1024, bf16>`: begins at byte 1024, in the storage format bf16. The path is relative
    to the module's `talc.directory`.
  }];
  let parameters = (ins StringRefParameter<"path">:$path, "int64_t":$offset, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $path `,` $offset `,` $elementType `>`";
}

def Talc_RandomSource : Talc_Attr<"RandomSource", "random"> {
  let summary = "reproducible pseudo-random values";
  let description = "Element i is mean + deviation * u(seed, i), u uniform in [-sqrt(3), sqrt(3)] (variance 1).";
  let parameters = (ins "int64_t":$seed, Talc_Real:$mean, Talc_Real:$deviation);
  let assemblyFormat = "`<` `seed` `=` $seed `,` `mean` `=` $mean `,` `deviation` `=` $deviation `>`";
}

def Talc_FillSource : Talc_Attr<"FillSource", "fill"> {
  let summary = "one value everywhere";
  let parameters = (ins Talc_Real:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Talc_ValuesSource : Talc_Attr<"ValuesSource", "values"> {
  let summary = "values written in the program, for small hand-written models and tests";
  let parameters = (ins "::mlir::DenseFPElementsAttr":$values);
  let assemblyFormat = "`<` $values `>`";
}

// Quantized checkpoints store a weight as tables of codes, scales and zero points in separate tensors.

def Talc_CodeKind : Talc_Enum<"CodeKind", "the type of the numbers of a table", [
  I32EnumAttrCase<"natural", 0>, I32EnumAttrCase<"integer", 1>,  // unsigned; two's complement
  I32EnumAttrCase<"e2m1", 2>, I32EnumAttrCase<"e4m3", 3>, I32EnumAttrCase<"e8m0", 4>, I32EnumAttrCase<"f16", 5>,
  I32EnumAttrCase<"bf16", 6>, I32EnumAttrCase<"f32", 7>]>;

def Talc_CodeOrder : Talc_Enum<"CodeOrder", "the order of the numbers of a table", [
  I32EnumAttrCase<"along", 0>,      // one after the other along a row
  I32EnumAttrCase<"down", 1>,       // one after the other down a column, whose words of 32 bits lie `stride` apart
  I32EnumAttrCase<"swapped", 2>]>;  // along a row, in every eight those of the columns 0 2 4 6 1 3 5 7

def Talc_Codes : Talc_Attr<"Codes", "codes"> {
  let summary = "a table of numbers of a few bits in a file";
  let description = [{
    `#talc.codes<"model.safetensors", 1024, natural 4, along, stride = 2048>`: begins at byte 1024; numbers of 4 bits, the
    lowest bits of a byte or word first; `stride` is the number of bits from a row to the next one, or in the order `down`
    from a row of words to the next one. `transposed`: rows of the file are columns of the table.
  }];
  let parameters = (ins StringRefParameter<"path">:$path, "int64_t":$offset, EnumParameter<Talc_CodeKind>:$kind,
                        "int64_t":$bits, EnumParameter<Talc_CodeOrder>:$order, "int64_t":$stride,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = [{
    `<` $path `,` $offset `,` $kind $bits `,` $order `,` `stride` `=` $stride (`,` `transposed` `=` $transposed^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Talc_QuantizedSource : Talc_Attr<"QuantizedSource", "quantized"> {
  let summary = "a matrix that files store as codes, scales and zero points";
  let description = [{
    Element (n, k) is `rounded`((codes(n, k) - zero) * scale), computed in f32 and rounded once, with
      g     = k / columns, or groups(0, k) if there are groups
      zero  = zeros(n / rows, g) + center, or center without zeros
      scale = scales(n / rows, g), with a factor times factor(0, 0), or divided by it if `divides`
    `elementType` is a storage format that holds exactly these values: in blocks, or `rounded` itself.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::mlir::Type":$rounded, "::talc::CodesAttr":$codes,
                        "::talc::CodesAttr":$scales, "int64_t":$rows, "int64_t":$columns,
                        DefaultValuedParameter<"int64_t", "0">:$center,
                        OptionalParameter<"::talc::CodesAttr">:$zeros, OptionalParameter<"::talc::CodesAttr">:$groups,
                        OptionalParameter<"::talc::CodesAttr">:$factor,
                        DefaultValuedParameter<"bool", "false">:$divides);
  let assemblyFormat = "`<` struct(params) `>`";
}

// Recipes: how a weight follows from other weights (the operands of `talc.derive`, the `of` symbols of `talc.weight`).

def Talc_TransposeRecipe : Talc_Attr<"TransposeRecipe", "transpose"> {
  let summary = "the transpose of one matrix";
}

def Talc_ConcatRecipe : Talc_Attr<"ConcatRecipe", "concat"> {
  let summary = "weights laid one after the other along the first dimension";
}

def Talc_RowsRecipe : Talc_Attr<"RowsRecipe", "rows"> {
  let summary = "some rows of one weight: of every `period` rows those from `first` on, `count` of them";
  let description = [{
    For tensors of a file that the model uses as several weights. `#talc.rows<first = 8, count = 8, period = 24>` are the
    keys of heads of width 8, if the tensor has queries, keys and values head by head.
  }];
  let parameters = (ins "int64_t":$first, "int64_t":$count, "int64_t":$period);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `first` `=` $first `,` `count` `=` $count `,` `period` `=` $period `>`";
}

def Talc_HalfSplitRecipe : Talc_Attr<"HalfSplitRecipe", "half_split"> {
  let summary = "reorders rows of heads whose neighbors are rotated together into the half-split order of `talc.rope`";
  let description = [{
    In every group of `width` rows, of the first `rotary` rows those with even indices come first, then those with odd
    indices; the others stay. Scores do not change if queries and keys are ordered alike.
  }];
  let parameters = (ins "int64_t":$width, "int64_t":$rotary);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `width` `=` $width `,` `rotary` `=` $rotary `>`";
}

def Talc_PlusRecipe : Talc_Attr<"PlusRecipe", "plus"> {
  let summary = "one weight plus a number";
  let parameters = (ins Talc_Real:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Talc_InterleaveRecipe : Talc_Attr<"InterleaveRecipe", "interleave"> {
  let summary = "two matrices [N, K] in turn, `group` rows of each";
  let description = [{
    The result has 2 * ceil(N / group) * group rows; rows beyond N are zero.
  }];
  let parameters = (ins "int64_t":$group);
  let assemblyFormat = "`<` $group `>`";
}

def Talc_PackRecipe : Talc_Attr<"PackRecipe", "pack"> {
  let summary = "one [N, K] matrix as panels [ceil(N/lanes), K, lanes]";
  let description = [{
    Element (p, k, l) is source(p*lanes + l, k), zero beyond N; lanes and storage format are those of the result. Prefill
    and decode share this layout.
  }];
}

def Talc_PadRecipe : Talc_Attr<"PadRecipe", "pad"> {
  let summary = "one vector or matrix with zeros appended up to the result's number of rows";
}

def Talc_ConvertRecipe : Talc_Attr<"ConvertRecipe", "convert"> {
  let summary = "one weight converted or quantized to the result's element type";
}

def Talc_RotaryTableRecipe : Talc_Attr<"RotaryTableRecipe", "rotary_table"> {
  let summary = "the cosines and sines of `talc.rope`; has no source";
  let description = [{
    Shape [positions, rotary]: row p holds cos(p*f_i) for i in [0, rotary/2), then sin(p*f_i), times the scaling's
    amplitude if it has one; f as in `talc.rope`. Computed in double precision.

    `digits` = D: Shape [3D, rotary], for positions up to D^3. Row dD + r, d in [0, 3), is that of the position r * D^d; only
    the first D rows have the amplitude.
  }];
  let parameters = (ins Talc_Real:$base, OptionalParameter<"::mlir::Attribute">:$scaling,
                        DefaultValuedParameter<"int64_t", "0">:$digits);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Talc_SinusoidLayout : Talc_Enum<"SinusoidLayout", "the order of sines and cosines in a row", [
  I32EnumAttrCase<"halves", 0>,        // all sines, then all cosines
  I32EnumAttrCase<"interleaved", 1>,   // sine and cosine in turn
  I32EnumAttrCase<"spread", 2>]>;      // halves, frequencies down to 1/10000

def Talc_SinusoidTableRecipe : Talc_Attr<"SinusoidTableRecipe", "sinusoid_table"> {
  let summary = "sinusoidal positions; has no source";
  let description = [{
    Shape [positions, D]: sin(p*f_i) and cos(p*f_i) with f_i = 10000^(-2i/D) for i in [0, H), H = ceil(D/2), computed in
    double precision. `halves`: columns i and H + i (Marian); `interleaved`: 2i and 2i + 1 (Vaswani et al. 2017). If D is
    odd, the last cosine has no column. `spread` (Vaswani's own program, M2M-100): columns i and H + i with H = floor(D/2)
    and f_i = 10000^(-i/(H - 1)); if D is odd, the last column is zero. Row `blank`, if it is not negative, is zero.
  }];
  let parameters = (ins EnumParameter<Talc_SinusoidLayout>:$layout, DefaultValuedParameter<"int64_t", "-1">:$blank);
  let assemblyFormat = "`<` $layout (`,` `blank` `=` $blank^)? `>`";
}

def Talc_RelativeBiasRecipe : Talc_Attr<"RelativeBiasRecipe", "relative_bias"> {
  let summary = "the bias of attention by distance, from a table of buckets [B, heads]";
  let description = [{
    Shape [heads, 2L - 1]: column L - 1 + d is table[bucket(d)], d = key position - query position. With nb buckets for
    a direction (B, or B/2 if `bidirectional`, the second half being for d > 0; else all d > 0 count as 0), n = |d| and
    e = nb/2:
      bucket = n                                                                     if n < e
               min(nb - 1, e + floor(ln(n/e) / ln(max_distance/e) * (nb - e)))       else
    Source: T5 (arXiv 1910.10683). It does not depend on activations, so that all layers and steps share one weight.
  }];
  let parameters = (ins "bool":$bidirectional, "int64_t":$maxDistance);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `bidirectional` `=` $bidirectional `,` `max_distance` `=` $maxDistance `>`";
}

def Talc_AlibiRecipe : Talc_Attr<"AlibiRecipe", "alibi"> {
  let summary = "the bias of attention that falls with the distance; has no source";
  let description = [{
    Shape [heads, 2L - 1]: column L - 1 + d is m_h * d, d = key position - query position. With n the largest power of two
    that is not above the number of heads, m_h = 2^(-8(h + 1)/n) for h < n; head n + j has 2^(-4(2j + 1)/n).
    Source: ALiBi (arXiv 2108.12409).

    `rounded`: Shape [heads, L], column p is s * bf16(bf16(m_h) * p) for the key at position p (Falcon, whose factor s scales the
    sum of score and bias).
  }];
  let parameters = (ins OptionalParameter<"::mlir::FloatAttr">:$rounded);
  let assemblyFormat = "(`<` `rounded` `=` $rounded^ `>`)?";
}

def Talc_RelativeKeysRecipe : Talc_Attr<"RelativeKeysRecipe", "relative_keys"> {
  let summary = "relative position keys of attention (Transformer-XL)";
  let description = [{
    From a projection W [heads*d, E], E even, shape [heads*D, d]: row h*D + c belongs to the distance D - 1 - c = p,
      s * W_h [sin(p f_0), ..., cos(p f_0), ...],   f_i = 10000^(-2i/E),   s = `scale`
    W_h being the d rows of a head. From W, a and b [heads*d], shape [heads*D]: the products of these rows with b_h - a_h,
    by which the scores of query + b_h differ from those of query + a_h. Computed in double precision.
    Source: Dai et al. 2019 (arXiv 1901.02860).
  }];
  let parameters = (ins "int64_t":$heads, Talc_Real:$scale);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `heads` `=` $heads `,` `scale` `=` $scale `>`";
}

#endif // TALC_DIALECT
