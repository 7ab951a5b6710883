// SPDX-License-Identifier: Apache-2.0
// The compute ops of backward functions, and what they read of the running step. See talc/gradients/GradientOps.td for
// the formulas.
#ifndef KERNEL_GRADIENT_OPS
#define KERNEL_GRADIENT_OPS

include "dialects/kernel/ComputeOpBase.td"

//===--- the step ------------------------------------------------------------------------------------------------===//

def Kernel_GradientOp : Kernel_Op<"gradient", [Pure]> {
  let summary = "the buffer of the gradient of a weight";
  let description = "It begins `offset` bytes into the gradients of the model; `plan-memory` assigns the offset.";
  let arguments = (ins Kernel_Step:$step, FlatSymbolRefAttr:$name, OptionalAttr<I64Attr>:$offset);
  let results = (outs MemRefOf<[F32]>:$result);
  let assemblyFormat = "$step $name (`at` $offset^)? attr-dict `:` type($result)";
}

def Kernel_LabelOp : Kernel_Op<"label", [Pure]> {
  let summary = "label of a wanted token; negative: it has none";
  let arguments = (ins Kernel_Step:$step, Index:$at);
  let results = (outs Index:$result);
  let assemblyFormat = "$step `[` $at `]` attr-dict";
}

def Kernel_LossScaleOp : Kernel_Op<"loss_scale", [Pure]> {
  let summary = "what gradients of a token's loss are multiplied by: 1 / number of labels";
  let arguments = (ins Kernel_Step:$step);
  let results = (outs F32:$result);
  let assemblyFormat = "$step attr-dict";
}

//===--- gradients of weights ------------------------------------------------------------------------------------===//

// An op that adds to the buffer of a weight. Sums over tokens are one chain for each number, tokens ascending, so that
// they are divided by columns.
class Kernel_WgradOp<string opName, list<Trait> traits = []>
    : Kernel_Op<opName, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                         DeclareOpInterfaceMethods<ComputeOpInterface, ["getDivision", "getTaskSpace"]>] # traits> {
  let extraClassDefinition = [{
    void $cppClass::getEffects(::talc::kernel::ComputeOpEffects &effects) {
      addWgradEffects(*this, getBufferMutable(), effects);
    }
    ::talc::kernel::Share $cppClass::getDivision() { return Share::columns; }
    ::talc::kernel::TaskSpace $cppClass::getTaskSpace(::talc::kernel::Share) { return TaskSpace::heads; }
  }];
  let hasVerifier = 1;
}

def Kernel_LinearWgradOp : Kernel_WgradOp<"linear_wgrad"> {
  let summary = "adds transpose(gradient) * x: the product of two activations over the tokens";
  let description = "buffer[n, k] += sum over t of gradient[t, n] * x[t, k]. A task is a block of rows of the buffer.";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$gradient, Kernel_Data:$x, AnyStridedMemRef:$buffer);
  let assemblyFormat = [{
    $step `,` $gradient `,` $x `into` $buffer attr-dict `:` type($gradient) `,` type($x) `,` type($buffer)
  }];
}

def Kernel_SumRowsOp : Kernel_WgradOp<"sum_rows"> {
  let summary = "adds the sum of all rows: buffer[n % L] += sum over t of gradient[t, n]";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$gradient, AnyStridedMemRef:$buffer);
  let assemblyFormat = "$step `,` $gradient `into` $buffer attr-dict `:` type($gradient) `,` type($buffer)";
}

def Kernel_ScatterAddOp : Kernel_WgradOp<"scatter_add"> {
  let summary = "adds rows to rows of a table: buffer[index(t) + offset] += gradient[t]";
  let description = "index(t) as in kernel.gather; rows that the table does not have are left out.";
  let arguments = (ins Kernel_GatherIndexAttr:$index, Kernel_Step:$step, Kernel_Data:$gradient, AnyStridedMemRef:$buffer,
                       I64Attr:$offset);
  let assemblyFormat = [{
    `` $index $step `,` $gradient `plus` $offset `into` $buffer attr-dict `:` type($gradient) `,` type($buffer)
  }];
}

//===--- gradients of activations --------------------------------------------------------------------------------===//

def Kernel_NormDgradOp : Kernel_ComputeOp<"norm_dgrad"> {
  let summary = "the gradient of the features of kernel.norm; see `talc.norm_dgrad`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$gradient, Kernel_Data:$x, Kernel_Data:$scale, Kernel_Data:$init,
                       Talc_NormKindAttr:$kind, F64Attr:$epsilon, I64Attr:$groups);
  let assemblyFormat = [{
    `` $kind $step `,` $gradient `,` $x `,` $scale `epsilon` $epsilon `groups` $groups `into` $init attr-dict `:`
    functional-type(operands, results)
  }];
}

def Kernel_RopeDgradOp : Kernel_ComputeOp<"rope_dgrad"> {
  let summary = "rotates back what kernel.rope rotated";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$table, Kernel_Data:$init, I64Attr:$heads,
                       DefaultValuedAttr<I64Attr, "0">:$last, DefaultValuedAttr<I64Attr, "0">:$digits);
  let assemblyFormat = [{
    $step `,` $x `,` $table `heads` $heads `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_SoftmaxDgradOp : Kernel_ComputeOp<"softmax_dgrad"> {
  let summary = "the gradient of the features of kernel.softmax, from its result y; see `talc.softmax_dgrad`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$gradient, Kernel_Data:$y, Kernel_Data:$init);
  let assemblyFormat = "$step `,` $gradient `,` $y `into` $init attr-dict `:` functional-type(operands, results)";
}

def Kernel_PlaceOp : Kernel_ComputeOp<"place"> {
  let summary = "puts features at their place in wider rows, which are zero elsewhere";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$init, I64Attr:$offset);
  let assemblyFormat = "$step `,` $x `at` $offset `into` $init attr-dict `:` functional-type(operands, results)";
}

def Kernel_SpreadOp : Kernel_ComputeOp<"spread"> {
  let summary = "puts the rows of wanted tokens back to their tokens; other rows are zero";
  let description = "Wanted tokens are ascending.";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$init, I64Attr:$output);
  let assemblyFormat = "$step `,` $x `output` $output `into` $init attr-dict `:` functional-type(operands, results)";
}

def Kernel_AttentionDgradOp : Kernel_ComputeOp<"attention_dgrad", ["getDivision", "getTaskSpace"]> {
  let summary = "the gradients of queries, keys and values of attention among the tokens of a step";
  let description = [{
    gradient and queries [T, heads*width], keys and values [T, kv_heads*width], init [T, (heads + 2*kv_heads)*width]: the
    gradients of queries, keys and values side by side. A task is a key-value head with its queries, of all sequences. The
    probabilities are computed again, from online maxima and sums; keys are taken a vector of them at a time, in ascending
    order, and their gradients are sums over heads and queries, ascending.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$gradient, Kernel_Data:$queries, Kernel_Data:$keys,
                       Kernel_Data:$values, Kernel_Data:$init, Talc_MaskKindAttr:$mask, I64Attr:$heads, I64Attr:$kv_heads,
                       F64Attr:$scale, I64Attr:$window, F64Attr:$cap);
  let assemblyFormat = [{
    `` $mask $step `,` $gradient `,` $queries `,` $keys `,` $values `heads` $heads `,` $kv_heads `scale` $scale
    `window` $window `cap` $cap `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

//===--- loss ----------------------------------------------------------------------------------------------------===//

def Kernel_TokenLossOp : Kernel_ComputeOp<"token_loss"> {
  let summary = "the loss of each wanted token; see `talc.cross_entropy`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$logits, Kernel_Data:$init, F64Attr:$smoothing);
  let assemblyFormat = "$step `,` $logits `smoothing` $smoothing `into` $init attr-dict `:` functional-type(operands, results)";
}

def Kernel_LossDgradOp : Kernel_ComputeOp<"loss_dgrad"> {
  let summary = "the gradient of the logits of each wanted token; see `talc.cross_entropy`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$logits, Kernel_Data:$init, F64Attr:$smoothing);
  let assemblyFormat = "$step `,` $logits `smoothing` $smoothing `into` $init attr-dict `:` functional-type(operands, results)";
}

#endif // KERNEL_GRADIENT_OPS
