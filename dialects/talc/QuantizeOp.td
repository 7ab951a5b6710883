// SPDX-License-Identifier: Apache-2.0
// Quantized activations, and the op that makes them; TalcOps.td, which has the classes used here, includes it.
#ifndef TALC_QUANTIZE_OP
#define TALC_QUANTIZE_OP

// The results of talc.quantize, and what a matmul multiplies: these or f32 activations.
def Talc_QuantizedElement : Type<CPred<"::talc::isQuantizedActivation($_self)">, "int8 codes with scales and sums, or bf16">;
def Talc_QuantizedActivations : Talc_TensorOf<[Talc_QuantizedElement], 2, 1, "quantized activations [tokens, features]">;
def Talc_MatmulInput : AnyTypeOf<[Talc_Activations, Talc_QuantizedActivations]>;

def Talc_QuantizeOp : Talc_Op<"quantize", [Pure, Talc_KeepsRows]> {
  let summary = "quantizes activations to int8 codes with a scale per 32 or 256 features, or converts them to bf16";
  let description = [{
    ```mlir
    %q = talc.quantize %x : tensor<?x64xf32> -> tensor<?x64x!talc.stored<q8_sums>>
    ```
    A block has 32 neighbors, in `q8_256_sums` and `q8_k_sums` 256. With its greatest magnitude m, in f32: i = 127 / m; the
    code is q = x * i, rounded to the nearest integer, ties to even; the value is q * (m / 127). Blocks with m < 2^-120
    become 0.

    ```mlir
    %r = talc.quantize %x : tensor<?x64xf32> -> tensor<?x64xbf16>
    ```
    Every value becomes the nearest bf16, ties to even.
  }];
  let arguments = (ins Talc_Activations:$x);
  let results = (outs Talc_QuantizedActivations:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TALC_QUANTIZE_OP
