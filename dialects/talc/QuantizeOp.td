// SPDX-License-Identifier: Apache-2.0
// Rounded activations, and the op that makes them; TalcOps.td, which has the classes used here, includes it.
#ifndef TALC_QUANTIZE_OP
#define TALC_QUANTIZE_OP

// What talc.quantize makes of activations; beside them operands of products.
def Talc_QuantizedElement : Type<CPred<"::talc::isQuantizedActivation($_self)">, "integers of 8 bits with their sums, or bf16">;
def Talc_QuantizedActivations : Talc_TensorOf<[Talc_QuantizedElement], 2, 1, "rounded activations [tokens, features]">;
def Talc_MatmulInput : AnyTypeOf<[Talc_Activations, Talc_QuantizedActivations]>;

def Talc_QuantizeOp : Talc_Op<"quantize", [Pure, Talc_KeepsRows]> {
  let summary = "activations rounded to integers of 8 bits, each 32 or 256 of a row with a scale, or to bf16";
  let description = [{
    ```mlir
    %q = talc.quantize %x : tensor<?x64xf32> -> tensor<?x64x!talc.stored<q8_sums>>
    ```
    Of 32 neighbours, in `q8_256_sums` and `q8_k_sums` of 256, whose greatest magnitude is m, in f32: i = 127 / m; q = x * i, rounded to the nearest integer, ties
    to even; the value is q * (m / 127). Neighbours with m < 2^-120 become 0.

    ```mlir
    %r = talc.quantize %x : tensor<?x64xf32> -> tensor<?x64xbf16>
    ```
    Every number becomes the nearest one of bf16, ties to even.
  }];
  let arguments = (ins Talc_Activations:$x);
  let results = (outs Talc_QuantizedActivations:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TALC_QUANTIZE_OP
