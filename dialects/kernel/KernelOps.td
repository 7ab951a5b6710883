// SPDX-License-Identifier: Apache-2.0
// The operations of the kernel dialect.
#ifndef KERNEL_OPS
#define KERNEL_OPS

include "dialects/kernel/ComputeOps.td"
include "dialects/kernel/LaunchAttr.td"

//===--- tasks ---------------------------------------------------------------------------------------------------===//

def Kernel_TasksOp : Kernel_Op<"tasks", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "a piece as tasks that the workers of a step share";
  let description = [{
    The body is one task: it computes the part of a piece that its arguments (all `index`) name. `divide-work` puts a
    piece into it; stage schedule puts the loops of a task there, and says how large the whole is (`of`) and how large a
    task should be (`grain`). How many tasks there are and who does them is the target's business alone, by `share` and
    by the number of workers; so a body never asks for either, and its results do not depend on them.

    | over | the body's arguments | of | grain |
    |---|---|---|---|
    | rows | first row, end row | rows | |
    | heads | head | heads | |
    | tiles | first row, end row, first panel, end panel, first panel of the task that probably follows | rows, panels of the weight | rows of a block, panels of a group |
    | queries | sequence, first head, heads, first row, rows | rows of the step, key-value heads, queries of a head per token | rows of a block, heads of a task of one token |
    | keys | block of keys, head | first block, end block, heads | |

    Rows of `queries` are those of one sequence: row m is query m % q of the key-value head for token m / q, with q
    queries of a head per token. Of a token that is alone in its sequence, several heads may be one task; where
    `scattered`, only if all keys of the sequence lie in one slot (see kernel.span).

    `plan` says how the target is to cut the piece and to share the tasks; stage schedule begins by giving one to every
    piece that has none (`assign-plans`).
  }];
  let arguments = (ins Kernel_Step:$step, Variadic<Index>:$extents, Kernel_TaskSpaceAttr:$space, Kernel_ShareAttr:$share,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$grain, UnitAttr:$scattered,
                       OptionalAttr<Kernel_Plan>:$plan);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $step `over` `` $space `by` `` $share (`plan` $plan^)? (`of` `(` $extents^ `)`)? (`grain` $grain^)? (`scattered` $scattered^)? $body
    attr-dict
  }];
  let extraClassDeclaration = [{
    // Puts a piece into tasks of its own.
    static TasksOp wrap(::mlir::Operation *piece, ::mlir::Value step, TaskSpace space, Share share);
    // The tasks whose body an operation stands in directly; null: none.
    static TasksOp around(::mlir::Operation *piece);
    // The only operation of the body before stage schedule; null if there are others.
    ::mlir::Operation *getComputeOp();
    // An argument of the body.
    ::mlir::Value part(unsigned number) { return getBody().getArgument(number); }
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
def Kernel_TokenCountOp : Kernel_StepIndex<"token_count", "number of tokens in the step">;
def Kernel_SpanCountOp : Kernel_StepIndex<"span_count", "number of sequences in the step">;

def Kernel_OutputCountOp : Kernel_Op<"output_count", [Pure]> {
  let summary = "number of rows that are wanted for a result";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output);
  let results = (outs Index:$result);
  let assemblyFormat = "$step $output attr-dict";
}

def Kernel_BeginTasksOp : Kernel_Op<"begin_tasks", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins a piece whose tasks are claimed, and yields its number in the step";
  let description = "Every thread counts these pieces by itself, and passes all of them in the same order.";
  let arguments = (ins Kernel_Step:$step);
  let results = (outs Index:$schedule);
  let assemblyFormat = "$step attr-dict";
}

def Kernel_NextTaskOp : Kernel_Op<"next_task", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the next task that this thread is to do of a dealt piece";
  let description = [{
    One of the numbers [0, tasks); each is yielded once, to one thread. Thread i of n has the share
    [tasks*i/n, tasks*(i+1)/n) and takes its tasks in ascending order; then it helps others, who have begun the piece,
    with theirs. At last `tasks`, when its own share is done: whoever did it, the thread may go on as if it had.
  }];
  let arguments = (ins Kernel_Step:$step, Index:$schedule, Index:$tasks);
  let results = (outs Index:$task);
  let assemblyFormat = "$step `,` $schedule `of` $tasks attr-dict";
}

def Kernel_TokenParallelOp : Kernel_Op<"token_parallel", [Pure]> {
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

def Kernel_SegmentOp : Kernel_StepElement<"segment", "in which segment of its text the rows of a sequence lie">;

def Kernel_OutputTokenOp : Kernel_Op<"output_token", [Pure]> {
  let summary = "a row that is wanted for a result";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output, Index:$at);
  let results = (outs Index:$result);
  let assemblyFormat = "$step $output `[` $at `]` attr-dict";
}

def Kernel_SpanOp : Kernel_Op<"span", [Pure]> {
  let summary = "one sequence in the step";
  let description = [{
    Its rows begin at `first_token`, the first has the position `first_position`. Its state is that of `slot`; but if
    `history` >= 0, the keys and values at a position p < `first_position` lie in the slot kernel.history[history + p].
    Its first `prefix` tokens see each other under a prefix mask. Its source is the first `source_length` tokens of
    `source_slot`.
  }];
  let arguments = (ins Kernel_Step:$step, Index:$at);
  let results = (outs Index:$first_token, Index:$tokens, Index:$first_position, Index:$slot, Index:$prefix,
                      Index:$source_slot, Index:$source_length, Index:$history);
  let assemblyFormat = "$step `[` $at `]` attr-dict";
}

def Kernel_WeightOp : Kernel_Op<"weight", [Pure]> {
  let summary = "a weight's values in the artifact";
  let arguments = (ins Kernel_Step:$step, FlatSymbolRefAttr:$name);
  let results = (outs Kernel_Data:$result);
  let assemblyFormat = "$step $name attr-dict `:` type($result)";
}

def Kernel_KvCacheOp : Kernel_Op<"kv_cache", [Pure]> {
  let summary = "a state's handle";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Talc_KvCache:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}

def Kernel_BytesOp : Kernel_Op<"bytes", [Pure]> {
  let summary = "the bytes of a buffer";
  let description = "Of values that are stored in blocks (`!talc.stored`), which kernels load from these bytes.";
  let arguments = (ins AnyStridedMemRef:$buffer);
  let results = (outs AnyStridedMemRef:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_DotOp : Kernel_Op<"dot", [Pure, AllTypesMatch<["sums", "result"]>, AllTypesMatch<["codes", "x"]>]> {
  let summary = "sums of four products of bytes";
  let description = [{
    result[i] = sums[i] + sum_j levels[4*i + j] * x[4*i + j], exactly: levels are from 0 to `most`, which is 127 where nothing
    is said, or with `signed` from -128 to 127, x from -127 to 127.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I32]>:$sums, VectorOfRankAndType<[1], [I8]>:$codes,
                       VectorOfRankAndType<[1], [I8]>:$x, DefaultValuedAttr<I64Attr, "127">:$max_code, UnitAttr:$is_signed);
  let results = (outs VectorOfRankAndType<[1], [I32]>:$result);
  let assemblyFormat = [{
    $codes (`to` $max_code^)? `,` $x `plus` $sums (`signed` $is_signed^)? attr-dict `:` type($codes) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_DotPairsOp : Kernel_Op<"dot_pairs", [Pure, AllTypesMatch<["sums", "result"]>, AllTypesMatch<["weights", "x"]>]> {
  let summary = "sums of two products of bf16";
  let description = [{
    result[i] = (sums[i] + weights[2*i + 1] * x[2*i + 1]) + weights[2*i] * x[2*i], each product and its sum rounded once, to
    the nearest f32, ties to even. Operands and sums below 2^-126 may count as 0.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$sums, VectorOfRankAndType<[1], [BF16]>:$weights,
                       VectorOfRankAndType<[1], [BF16]>:$x);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = "$weights `,` $x `plus` $sums attr-dict `:` type($weights) `->` type($result)";
  let hasVerifier = 1;
}

class Kernel_KvView<string opName, string opSummary> : Kernel_Op<opName, [Pure]> {
  let summary = opSummary;
  let arguments = (ins Kernel_Step:$step, Talc_KvCache:$cache, Index:$slot);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = "$step `,` $cache `[` $slot `]` attr-dict `:` qualified(type($cache)) `->` type($result)";
  let hasVerifier = 1;
}
def Kernel_KeysOp : Kernel_KvView<"keys", "one slot's keys"> {
  let description = [{
    [panels, heads, width, L]: key p of head h is the column [p / L, h, :, p % L], the layout of a packed weight, so that
    scores are a contraction like any other.
  }];
}
def Kernel_ValuesOp : Kernel_KvView<"values", "one slot's values"> {
  let description = [{
    [panels, heads, L, width rounded up to L]: feature f of value p of head h is [p / L, h, p % L, f]; the features beyond
    width stay zero.
  }];
}

def Kernel_MatricesOp : Kernel_KvView<"matrices", "one slot's memory, as #kernel.matrices has it">;

def Kernel_OutputOp : Kernel_Op<"output", [Pure]> {
  let summary = "the caller's buffer for a result of the step";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$step $output attr-dict `:` type($result)";
}

def Kernel_ArenaOp : Kernel_Op<"arena"> {
  let summary = "a temporary buffer at a planned place";
  let description = [{
    Begins `perToken` * row_count + `fixed` + `perThread` * thread bytes into the arena; `rows` is the buffer's dynamic
    dimension, if any. Two of them at the same place are two buffers, which live one after the other: what is known of
    one, such as how its rows are stored, says nothing about the other.
  }];
  let arguments = (ins Kernel_Step:$step, Optional<Index>:$rows, I64Attr:$perToken, I64Attr:$fixed,
                       I64Attr:$perThread);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    $step (`rows` $rows^)? `at` $perToken `plus` $fixed `by_thread` $perThread attr-dict `:` type($result)
  }];
}

def Kernel_BarrierOp : Kernel_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "no thread passes before all have arrived";
  let description = "With `unless_token_parallel` only in steps that are not divided by rows (`kernel.token_parallel`).";
  let arguments = (ins Kernel_Step:$step, UnitAttr:$unless_token_parallel);
  let assemblyFormat = "$step (`unless_token_parallel` $unless_token_parallel^)? attr-dict";
}

def Kernel_MarkOp : Kernel_Op<"mark", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "this thread has finished its share of a kernel";
  let description = "Tells the tool that measures the step, if there is one; `kernel` is a place in `talc.kernels`.";
  let arguments = (ins Kernel_Step:$step, I64Attr:$kernel);
  let assemblyFormat = "$step $kernel attr-dict";
}

#endif // KERNEL_OPS
