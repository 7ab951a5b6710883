// SPDX-License-Identifier: Apache-2.0
// The operations of the kernel dialect.
#ifndef KERNEL_OPS
#define KERNEL_OPS

include "dialects/kernel/KernelDialect.td"
include "dialects/talc/TalcDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A tensor before bufferization, a buffer after it.
def Kernel_Data : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

class Kernel_Op<string opName, list<Trait> traits = []> : Op<Kernel_Dialect, opName, traits>;

//===--- pieces --------------------------------------------------------------------------------------------------===//

// An op that writes its `init` operand, and on tensors returns the new value.
class Kernel_Piece<string opName, list<Trait> traits = []>
    : Kernel_Op<opName, [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>] # traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  code declareInits = "::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }\n";
  let extraClassDeclaration = declareInits;
}

def Kernel_ContractOp : Kernel_Piece<"contract", [SingleBlock]> {
  let summary = "rows times a packed weight, with an epilogue on every sum";
  let description = [{
    x [T, K], weight [P, K, L] (#talc.pack, L 16, 32 or 64), init [T, N]:
      init[t, n] = epilogue(sum_k x[t, k] * weight[n / L, k, n % L], inputs at (t, n))
    An input is [T, N] (element (t, n)), or a vector of at least N elements (element n). Each sum is one f32 chain with
    k ascending, so that results do not depend on how the loops are tiled.

    `gated`: a panel holds L/2 gate columns, then L/2 up columns (#talc.interleave); the epilogue receives both sums.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$weight, Variadic<Kernel_Data>:$inputs,
                       Kernel_Data:$init, UnitAttr:$gated);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $step `,` $x `,` $weight (`inputs` `(` $inputs^ `)`)? `into` $init (`gated` $gated^)? $epilogue attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator, HasParent<"ContractOp">]> {
  let summary = "the value that a contraction stores";
  let arguments = (ins Variadic<F32>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Kernel_AttentionOp : Kernel_Piece<"attention"> {
  let summary = "online-softmax attention of the step's queries over a state";
  let description = [{
    queries and init [T, heads*width]; see `talc.attention`. A state of the role source has the keys of the sequence's
    source, all of which are seen. Keys are taken in blocks of fixed size counted from position 0, so that a query's
    result does not depend on the other queries of the step. Source: Milakov and Gimelshein 2018; FlashAttention
    (arXiv 2205.14135).

    With `block`, a multiple of panelLanes, queries have a single row, and init [ceil(capacity / block), n] receives
    what each block of so many keys yields by itself, for kernel.combine; see PartsLayout.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$queries, Talc_State:$state, Optional<Kernel_Data>:$bias,
                       Kernel_Data:$init, Talc_MaskKindAttr:$mask, I64Attr:$heads, F64Attr:$scale, I64Attr:$window,
                       OptionalAttr<I64Attr>:$block);
  let assemblyFormat = [{
    `` $mask $step `,` $queries `,` $state (`bias` $bias^)? `heads` $heads `scale` $scale `window` $window
    (`block` $block^)? `into` $init attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Kernel_CombineOp : Kernel_Piece<"combine"> {
  let summary = "the attention of a single row from what each block of keys yielded";
  let description = [{
    init [1, heads*width]; parts [blocks, n] as an attention with the same `block` and `window` left them, over the
    keys of the row's sequence, or of its `source`. Blocks are brought together in ascending order, as an attention
    does that takes them one after the other, so that the bits are the same.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$parts, Kernel_Data:$init, I64Attr:$heads, I64Attr:$window,
                       I64Attr:$block, UnitAttr:$source);
  let assemblyFormat = [{
    $step `,` $parts `heads` $heads `window` $window `block` $block (`source` $source^)? `into` $init attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Kernel_NormOp : Kernel_Piece<"norm"> {
  let summary = "layer or root-mean-square normalization of every row, in groups; see `talc.norm`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$scale, Optional<Kernel_Data>:$bias,
                       Kernel_Data:$init, Talc_NormKindAttr:$kind, F64Attr:$epsilon, I64Attr:$groups);
  let assemblyFormat = [{
    `` $kind $step `,` $x `,` $scale (`bias` $bias^)? `epsilon` $epsilon `groups` $groups `into` $init attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Kernel_SoftmaxOp : Kernel_Piece<"softmax"> {
  let summary = "softmax of every row; see `talc.softmax`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$init);
  let assemblyFormat = "$step `,` $x `into` $init attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Kernel_RopeOp : Kernel_Piece<"rope"> {
  let summary = "rotary embedding from a table of cosines and sines; see `talc.rope`";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$table, Kernel_Data:$init, I64Attr:$heads);
  let assemblyFormat = [{
    $step `,` $x `,` $table `heads` $heads `into` $init attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Kernel_GatherOp : Kernel_Piece<"gather"> {
  let summary = "init[t] = table[index(t) + offset]";
  let description = [{
    index(t) is the token id of row t (`ids`), its position (`positions`), its token type (`types`), or the t-th row
    that is wanted for the result `output` (`outputs`). A table of rank 3 is packed: [V/L, D, L].
  }];
  let arguments = (ins Kernel_GatherIndexAttr:$index, Kernel_Step:$step, Kernel_Data:$table, Kernel_Data:$init,
                       I64Attr:$offset, DefaultValuedAttr<I64Attr, "0">:$output);
  let assemblyFormat = [{
    `` $index $step `,` $table `plus` $offset `into` $init attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Kernel_AppendOp : Kernel_Op<"append", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "stores keys and values of the step's rows in a state; see `talc.append`";
  let arguments = (ins Kernel_Step:$step, Talc_State:$state, Kernel_Data:$keys, Kernel_Data:$values);
  let assemblyFormat = [{
    $step `,` $state `,` $keys `,` $values attr-dict `:` qualified(type($state)) `,` type($keys) `,` type($values)
  }];
  let hasVerifier = 1;
}

//===--- the step ------------------------------------------------------------------------------------------------===//

class Kernel_StepIndex<string opName, string opSummary> : Kernel_Op<opName, [Pure]> {
  let summary = opSummary;
  let arguments = (ins Kernel_Step:$step);
  let results = (outs Index:$result);
  let assemblyFormat = "$step attr-dict";
}
def Kernel_ThreadOp : Kernel_StepIndex<"thread", "index of this thread">;
def Kernel_ThreadsOp : Kernel_StepIndex<"threads", "number of threads that run the step">;
def Kernel_RowCountOp : Kernel_StepIndex<"row_count", "number of tokens in the step">;
def Kernel_SpanCountOp : Kernel_StepIndex<"span_count", "number of sequences in the step">;

def Kernel_OutputCountOp : Kernel_Op<"output_count", [Pure]> {
  let summary = "number of rows that are wanted for a result";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output);
  let results = (outs Index:$result);
  let assemblyFormat = "$step $output attr-dict";
}

def Kernel_DealOp : Kernel_Op<"deal", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins a piece whose tasks are claimed, and yields its number in the step";
  let description = "Every thread counts these pieces by itself, and passes all of them in the same order.";
  let arguments = (ins Kernel_Step:$step);
  let results = (outs Index:$piece);
  let assemblyFormat = "$step attr-dict";
}

def Kernel_ClaimOp : Kernel_Op<"claim", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the next task that this thread is to do of a dealt piece";
  let description = [{
    One of the numbers [0, tasks); each is yielded once, to one thread. Thread i of n has the share
    [tasks*i/n, tasks*(i+1)/n) and takes its tasks in ascending order; then it helps others, who have begun the piece,
    with theirs. At last `tasks`, when its own share is done: whoever did it, the thread may go on as if it had.
  }];
  let arguments = (ins Kernel_Step:$step, Index:$piece, Index:$tasks);
  let results = (outs Index:$task);
  let assemblyFormat = "$step `,` $piece `of` $tasks attr-dict";
}

def Kernel_ByRowsOp : Kernel_Op<"by_rows", [Pure]> {
  let summary = "whether the step has so many rows that every thread takes its rows through whole layers";
  let arguments = (ins Kernel_Step:$step);
  let results = (outs I1:$result);
  let assemblyFormat = "$step attr-dict";
}

class Kernel_StepElement<string opName, string opSummary> : Kernel_Op<opName, [Pure]> {
  let summary = opSummary;
  let arguments = (ins Kernel_Step:$step, Index:$at);
  let results = (outs Index:$result);
  let assemblyFormat = "$step `[` $at `]` attr-dict";
}
def Kernel_IdOp : Kernel_StepElement<"id", "token id of a row">;
def Kernel_PositionOp : Kernel_StepElement<"position", "position of a row in its sequence">;
def Kernel_SlotOp : Kernel_StepElement<"slot", "state slot of a row's sequence">;
def Kernel_TokenTypeOp : Kernel_StepElement<"token_type", "token type of a row">;
def Kernel_HistoryOp : Kernel_StepElement<"history", "an entry of the step's list of slots (see kernel.span)">;

def Kernel_OutputRowOp : Kernel_Op<"output_row", [Pure]> {
  let summary = "a row that is wanted for a result";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output, Index:$at);
  let results = (outs Index:$result);
  let assemblyFormat = "$step $output `[` $at `]` attr-dict";
}

def Kernel_SpanOp : Kernel_Op<"span", [Pure]> {
  let summary = "one sequence in the step";
  let description = [{
    Its rows begin at `first_row`, the first has the position `first_position`. Its state is that of `slot`; but if
    `history` >= 0, the keys and values at a position p < `first_position` lie in the slot kernel.history[history + p].
    Its first `prefix` tokens see each other under a prefix mask. Its source is the first `source_length` tokens of
    `source_slot`.
  }];
  let arguments = (ins Kernel_Step:$step, Index:$at);
  let results = (outs Index:$first_row, Index:$rows, Index:$first_position, Index:$slot, Index:$prefix,
                      Index:$source_slot, Index:$source_length, Index:$history);
  let assemblyFormat = "$step `[` $at `]` attr-dict";
}

def Kernel_WeightOp : Kernel_Op<"weight", [Pure]> {
  let summary = "a weight's values in the artifact";
  let arguments = (ins Kernel_Step:$step, FlatSymbolRefAttr:$name);
  let results = (outs Kernel_Data:$result);
  let assemblyFormat = "$step $name attr-dict `:` type($result)";
}

def Kernel_StateOp : Kernel_Op<"state", [Pure]> {
  let summary = "a state's handle";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Talc_State:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}

class Kernel_StatePart<string opName, string opSummary> : Kernel_Op<opName, [Pure]> {
  let summary = opSummary;
  let arguments = (ins Kernel_Step:$step, Talc_State:$state, Index:$slot);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = "$step `,` $state `[` $slot `]` attr-dict `:` qualified(type($state)) `->` type($result)";
}
def Kernel_KeysOp : Kernel_StatePart<"keys", "one slot's keys"> {
  let description = [{
    [panels, heads, width, L]: key p of head h is the column [p / L, h, :, p % L], the layout of a packed weight, so that
    scores are a contraction like any other.
  }];
}
def Kernel_ValuesOp : Kernel_StatePart<"values", "one slot's values"> {
  let description = [{
    [panels, heads, L, width rounded up to L]: feature f of value p of head h is [p / L, h, p % L, f]; the features beyond
    width stay zero.
  }];
}

def Kernel_OutputOp : Kernel_Op<"output", [Pure]> {
  let summary = "the caller's buffer for a result of the step";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$step $output attr-dict `:` type($result)";
}

def Kernel_ArenaOp : Kernel_Op<"arena", [Pure]> {
  let summary = "a temporary buffer at a planned place";
  let description = [{
    Begins `perToken` * row_count + `fixed` + `perThread` * thread bytes into the arena; `rows` is the buffer's dynamic
    dimension, if any.
  }];
  let arguments = (ins Kernel_Step:$step, Optional<Index>:$rows, I64Attr:$perToken, I64Attr:$fixed,
                       I64Attr:$perThread);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $step (`rows` $rows^)? `at` $perToken `plus` $fixed `by_thread` $perThread attr-dict `:` type($result)
  }];
}

def Kernel_BarrierOp : Kernel_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "no thread passes before all have arrived";
  let description = "With `unless_by_rows` only in steps that are not divided by rows (`kernel.by_rows`).";
  let arguments = (ins Kernel_Step:$step, UnitAttr:$unless_by_rows);
  let assemblyFormat = "$step (`unless_by_rows` $unless_by_rows^)? attr-dict";
}

def Kernel_MarkOp : Kernel_Op<"mark", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "this thread has finished its share of a kernel";
  let description = "Tells the tool that measures the step, if there is one; `kernel` is a place in `talc.kernels`.";
  let arguments = (ins Kernel_Step:$step, I64Attr:$kernel);
  let assemblyFormat = "$step $kernel attr-dict";
}

#endif // KERNEL_OPS
