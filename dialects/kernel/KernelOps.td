// SPDX-License-Identifier: Apache-2.0
// The operations of the kernel dialect.
#ifndef KERNEL_OPS
#define KERNEL_OPS

include "dialects/kernel/ComputeOps.td"
include "dialects/kernel/LaunchAttr.td"

//===--- tasks ---------------------------------------------------------------------------------------------------===//

def Kernel_TasksOp : Kernel_Op<"tasks", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "splits a compute op into tasks that the workers of a step share";
  let description = [{
    The body is one task: it computes the part of a compute op that its arguments (all `index`) name. `divide-work` wraps
    a compute op in it; stage schedule replaces the op by the loops of a task, and sets the size of the whole space (`of`)
    and of a task (`grain`). How many tasks there are and which worker does them is decided by the target alone, from
    `share` and the number of workers. A body never depends on either, and neither do its results.

    | over | arguments of the body | of | grain |
    |---|---|---|---|
    | rows | first row, end row | rows | |
    | heads | head | heads | |
    | tiles | first row, end row, first panel, end panel, first panel of the task that will probably be next | rows, panels of the weight | rows of a block, panels of a group |
    | queries | sequence, first head, heads, first row, rows | rows of the step, key-value heads, queries of a head per token | rows of a block, heads of a task of one token |
    | keys | block of keys, head | first block, end block, heads | |

    Rows of `queries` belong to one sequence: row m is query m % q of the key-value head for token m / q, where q is the
    number of queries of a head per token. If a sequence has a single token in the step, one task may compute several
    heads; with `scattered` only if all keys of the sequence are in one slot (see kernel.span).

    `plan` holds the tuning parameters that say how the target cuts the loops and shares the tasks. Stage schedule begins
    by giving a plan to every op that has none (`assign-plans`).

    `dynamic`: any worker may take any task, whatever it did in the op before, as workgroups of a GPU do. Without it,
    workers that divide two ops alike find the results of the first one in their own memory, and need no barrier.
  }];
  let arguments = (ins Kernel_Step:$step, Variadic<Index>:$extents, Kernel_TaskSpaceAttr:$space, Kernel_ShareAttr:$share,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$grain, UnitAttr:$scattered,
                       UnitAttr:$dynamic, OptionalAttr<Kernel_Plan>:$plan);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $step `over` `` $space `by` `` $share (`dynamic` $dynamic^)? (`plan` $plan^)? (`of` `(` $extents^ `)`)? (`grain` $grain^)? (`scattered` $scattered^)? $body
    attr-dict
  }];
  let extraClassDeclaration = [{
    // Wraps a compute op in tasks of its own.
    static TasksOp wrap(::mlir::Operation *op, ::mlir::Value step, TaskSpace space, Share share);
    // The tasks whose body directly contains an operation; null if there are none.
    static TasksOp around(::mlir::Operation *op);
    // The only operation of the body, before stage schedule; null if there are others.
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
def Kernel_WorkerOp : Kernel_StepIndex<"worker", "index of this worker">;
def Kernel_WorkersOp : Kernel_StepIndex<"workers", "number of workers that run the step">;
def Kernel_TokenCountOp : Kernel_StepIndex<"token_count", "number of tokens in the step">;
def Kernel_SpanCountOp : Kernel_StepIndex<"span_count", "number of sequences in the step">;

def Kernel_OutputCountOp : Kernel_Op<"output_count", [Pure]> {
  let summary = "number of tokens whose result is wanted";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output);
  let results = (outs Index:$result);
  let assemblyFormat = "$step $output attr-dict";
}

def Kernel_BeginTasksOp : Kernel_Op<"begin_tasks", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins an op whose tasks are scheduled dynamically, and yields its index in the step";
  let description = "Every worker counts these ops by itself, and runs all of them in the same order.";
  let arguments = (ins Kernel_Step:$step);
  let results = (outs Index:$schedule);
  let assemblyFormat = "$step attr-dict";
}

def Kernel_NextTaskOp : Kernel_Op<"next_task", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the next task of a dynamic schedule for this worker";
  let description = [{
    A number of [0, tasks); each is yielded once, to one worker. Worker i of n owns the tasks [tasks*i/n, tasks*(i+1)/n)
    and takes them in ascending order; then it steals tasks of other workers that have begun the op. It yields `tasks`
    once all tasks that the worker owns are done, by whichever worker.
  }];
  let arguments = (ins Kernel_Step:$step, Index:$schedule, Index:$tasks);
  let results = (outs Index:$task);
  let assemblyFormat = "$step `,` $schedule `of` $tasks attr-dict";
}

def Kernel_TokenParallelOp : Kernel_Op<"token_parallel", [Pure]> {
  let summary = "whether the step has so many tokens that every worker takes its tokens through whole layers";
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
def Kernel_IdOp : Kernel_StepElement<"id", "id of a token">;
def Kernel_PositionOp : Kernel_StepElement<"position", "position of a token in its sequence">;
def Kernel_SlotOp : Kernel_StepElement<"slot", "KV-cache slot of a token's sequence">;
def Kernel_TokenTypeOp : Kernel_StepElement<"token_type", "type of a token">;
def Kernel_HistoryOp : Kernel_StepElement<"history", "an entry of the step's list of KV-cache slots (see kernel.span)">;

def Kernel_SegmentOp : Kernel_StepElement<"segment", "the segment of a sequence that its tokens in the step belong to">;

def Kernel_OutputTokenOp : Kernel_Op<"output_token", [Pure]> {
  let summary = "index of a token whose result is wanted";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output, Index:$at);
  let results = (outs Index:$result);
  let assemblyFormat = "$step $output `[` $at `]` attr-dict";
}

def Kernel_SpanOp : Kernel_Op<"span", [Pure]> {
  let summary = "one sequence in the step";
  let description = [{
    Its tokens in the step are [first_token, first_token + tokens); the first one has the position `first_position`. Its
    KV cache is in `slot`; but if `history` >= 0, the keys and values at a position p < `first_position` are in the slot
    kernel.history[history + p]. The first `prefix` tokens of the sequence see each other under a prefix mask. Its source
    is the first `source_length` tokens of `source_slot`.
  }];
  let arguments = (ins Kernel_Step:$step, Index:$at);
  let results = (outs Index:$first_token, Index:$tokens, Index:$first_position, Index:$slot, Index:$prefix,
                      Index:$source_slot, Index:$source_length, Index:$history);
  let assemblyFormat = "$step `[` $at `]` attr-dict";
}

def Kernel_WeightOp : Kernel_Op<"weight", [Pure]> {
  let summary = "the values of a weight, in the artifact";
  let arguments = (ins Kernel_Step:$step, FlatSymbolRefAttr:$name);
  let results = (outs Kernel_Data:$result);
  let assemblyFormat = "$step $name attr-dict `:` type($result)";
}

def Kernel_KvCacheOp : Kernel_Op<"kv_cache", [Pure]> {
  let summary = "the handle of a KV cache";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Talc_KvCache:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}

def Kernel_BytesOp : Kernel_Op<"bytes", [Pure]> {
  let summary = "the bytes of a buffer";
  let description = "For values that are stored in quant blocks (`!talc.stored`), which kernels load from these bytes.";
  let arguments = (ins AnyStridedMemRef:$buffer);
  let results = (outs AnyStridedMemRef:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_DotOp : Kernel_Op<"dot", [Pure, AllTypesMatch<["sums", "result"]>, AllTypesMatch<["codes", "x"]>]> {
  let summary = "dot products of four pairs of bytes";
  let description = [{
    result[i] = sums[i] + sum_j codes[4*i + j] * x[4*i + j], exactly. Codes are from 0 to `max_code` (by default 127), or
    with `signed` from -128 to 127; x is from -127 to 127.
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
  let summary = "dot products of two pairs of bf16";
  let description = [{
    result[i] = (sums[i] + weights[2*i + 1] * x[2*i + 1]) + weights[2*i] * x[2*i]. Each product is added with one rounding
    to the nearest f32, ties to even. Operands and sums below 2^-126 may be flushed to 0.
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
def Kernel_KeysOp : Kernel_KvView<"keys", "the keys of one KV-cache slot"> {
  let description = [{
    [panels, heads, width, L]: key p of head h is the column [p / L, h, :, p % L]. This is the layout of a packed weight,
    so that scores are a matmul like any other.
  }];
}
def Kernel_ValuesOp : Kernel_KvView<"values", "the values of one KV-cache slot"> {
  let description = [{
    [panels, heads, L, width rounded up to a multiple of L]: feature f of value p of head h is [p / L, h, p % L, f].
    Features beyond the width stay zero.
  }];
}

def Kernel_MatricesOp : Kernel_KvView<"matrices", "the compressive memory of one slot, laid out as #kernel.matrices">;

def Kernel_ColumnsOp : Kernel_KvView<"columns", "the state of a recurrence of one slot, laid out as #kernel.columns">;

def Kernel_OutputOp : Kernel_Op<"output", [Pure]> {
  let summary = "the caller's buffer for a result of the step";
  let arguments = (ins Kernel_Step:$step, I64Attr:$output);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$step $output attr-dict `:` type($result)";
}

def Kernel_ArenaOp : Kernel_Op<"arena"> {
  let summary = "a temporary buffer at a planned offset of the arena";
  let description = [{
    It begins `perToken` * token_count + `fixed` + `perWorker` * worker bytes into the arena; `rows` is the dynamic
    dimension of the buffer, if it has one. Two ops with the same offset are two buffers with disjoint lifetimes: their
    contents and element types are unrelated.
  }];
  let arguments = (ins Kernel_Step:$step, Optional<Index>:$rows, I64Attr:$perToken, I64Attr:$fixed,
                       I64Attr:$perWorker);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    $step (`rows` $rows^)? `at` $perToken `plus` $fixed `by_worker` $perWorker attr-dict `:` type($result)
  }];
}

def Kernel_BarrierOp : Kernel_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until all workers have arrived";
  let description = "With `unless_token_parallel` it waits only in steps that are not divided by tokens (`kernel.token_parallel`).";
  let arguments = (ins Kernel_Step:$step, UnitAttr:$unless_token_parallel);
  let assemblyFormat = "$step (`unless_token_parallel` $unless_token_parallel^)? attr-dict";
}

def Kernel_MarkOp : Kernel_Op<"mark", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "reports that this worker has finished its share of a kernel";
  let description = "A tool that measures the step may listen; `kernel` is an index into `talc.kernels`.";
  let arguments = (ins Kernel_Step:$step, I64Attr:$kernel);
  let assemblyFormat = "$step $kernel attr-dict";
}

#endif // KERNEL_OPS
