// SPDX-License-Identifier: Apache-2.0
// The operations in which a token sees earlier ones through a state of fixed size.
//
// Each op has a state of its own (a cache of the role recurrence), treats every sequence alone, and takes its tokens one
// after the other. Its results so have the same bits however sequences are cut into steps.
#ifndef TALC_RECURRENCE_OPS
#define TALC_RECURRENCE_OPS

include "dialects/talc/TalcOperands.td"

def Talc_FloatMatrix : Talc_TensorOf<[F32], 2, 0, "a matrix of f32 of known size">;

def Talc_CausalConvOp : Talc_Op<"causal_conv", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["x", "result"]>]> {
  let summary = "a short convolution of every feature over the last tokens of its sequence";
  let description = [{
    ```mlir
    %y = talc.causal_conv %x, %w bias %b, %state, %sequences then silu : (...) -> tensor<?x64xf32>
    ```
    x [T, C], weight [k, C], bias [C], and a state `!talc.kv_cache<1 x C x k-1, recurrence>`, which keeps the last k - 1
    rows of x. With x[s] = 0 before the first token of a sequence,
      result[t, c] = bias[c] + sum over j of weight[j, c] * x[t - k + 1 + j, c],   j ascending
    so that the last row of the weight belongs to the token itself. k is 2 to 16. `then`: the activation of the result, silu.
    Source: Mamba (arXiv 2312.00752); LFM2 (arXiv 2511.23404).
  }];
  let arguments = (ins Talc_Activations:$x, Talc_FloatMatrix:$weight, Optional<Talc_Vector>:$bias, Talc_KvCache:$state,
                       Talc_Sequences:$sequences, OptionalAttr<Talc_ActivationKindAttr>:$activation);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? `,` $state `,` $sequences (`then` $activation^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Talc_RecurrenceOp : Talc_Op<"recurrence", [MemoryEffects<[MemRead, MemWrite]>,
                                               AllTypesMatch<["values", "result"]>]> {
  let summary = "a matrix for every head that each token decays, adds to, and reads";
  let description = [{
    ```mlir
    %y = talc.recurrence delta %q, %k, %v, %state, %sequences decay %dt rates %a factors %beta : (...) -> tensor<?x512xf32>
    ```
    A state `!talc.kv_cache<H x dv x dk, recurrence>`: for each of H heads a matrix S [dk, dv], zero before the first token
    of a sequence. values [T, H*dv]; queries and keys [T, Hk*dk] of Hk key heads: head h uses key head h / (H/Hk). With the
    rows q, k and v of a token and head, ascending in t:
      d = e^(-e^rates[h] * decay[t, h])
      additive: S = d S + k^T u,  u = factors[t, h] v                   (Mamba-2, arXiv 2405.21060)
      delta:    S = d S + k^T u,  u = factors[t, h] (v - (d k) S)       (gated delta net, arXiv 2412.06464)
      result = q S + skip[h] v
    decay and factors [T, H], rates and skip [H]; without skip nothing is added. Sums over rows of S ascend. Neither queries
    nor keys are scaled or normalized.
  }];
  let arguments = (ins Talc_RecurrenceUpdateAttr:$update, Talc_Activations:$queries, Talc_Activations:$keys,
                       Talc_Activations:$values, Talc_KvCache:$state, Talc_Sequences:$sequences, Talc_Activations:$decay,
                       Talc_Vector:$rates, Talc_Activations:$factors, Optional<Talc_Vector>:$skip);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    `` $update $queries `,` $keys `,` $values `,` $state `,` $sequences `decay` $decay `rates` $rates `factors` $factors
    (`skip` $skip^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Talc_SelectiveScanOp : Talc_Op<"selective_scan", [MemoryEffects<[MemRead, MemWrite]>,
                                                      AllTypesMatch<["x", "steps", "result"]>,
                                                      AllTypesMatch<["input", "output"]>]> {
  let summary = "numbers of every feature that each token decays, adds to, and reads";
  let description = [{
    ```mlir
    %y = talc.selective_scan %x, %dt, %b, %c, %state, %sequences rates %a skip %d : (...) -> tensor<?x64xf32>
    ```
    x and steps [T, G*C], input and output [T, G*N], rates [N, G*C], skip [G*C], and a state
    `!talc.kv_cache<G x C x N, recurrence>`: for each feature c, which belongs to group g, N numbers h (at most 1024), zero before the first
    token of a sequence. Ascending in t:
      h[n] = e^(-e^rates[n, c] * steps[t, c]) h[n] + steps[t, c] x[t, c] input[t, g, n]
      result[t, c] = sum over n of output[t, g, n] h[n] + skip[c] x[t, c],   n ascending
    Source: Mamba (arXiv 2312.00752).
  }];
  let arguments = (ins Talc_Activations:$x, Talc_Activations:$steps, Talc_Activations:$input, Talc_Activations:$output,
                       Talc_KvCache:$state, Talc_Sequences:$sequences, Talc_FloatMatrix:$rates, Talc_Vector:$skip);
  let results = (outs Talc_Activations:$result);
  let assemblyFormat = [{
    $x `,` $steps `,` $input `,` $output `,` $state `,` $sequences `rates` $rates `skip` $skip attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TALC_RECURRENCE_OPS
