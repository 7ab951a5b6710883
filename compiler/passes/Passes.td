// SPDX-License-Identifier: Apache-2.0
// Declares the passes, in the order in which compiler/Pipeline.cpp runs them. Passes of one kind of target are declared
// in the folders of that kind.
#ifndef TALC_PASSES
#define TALC_PASSES

include "mlir/Pass/PassBase.td"

//===--- the talc dialect ----------------------------------------------------------------------------------------===//

def CheckModel : Pass<"check-model", "mlir::ModuleOp"> {
  let summary = "checks what the verifiers of single operations cannot see: entries, selected tokens, capacities";
  let description = [{
    Entries are `(tensor<?xi32>, !talc.sequences) -> results`. Operations that need all tokens of a step do not get
    selected ones. Tables, biases and KV caches are large enough for `talc.max_sequence` tokens.
  }];
}

//===--- differentiate: talc -> talc, only to train a model --------------------------------------------------------===//

def WholeSequences : Pass<"whole-sequences", "mlir::ModuleOp"> {
  let summary = "makes attention read the keys and values of the step instead of a KV cache";
  let description = [{
      kv_append %cache, %k, %v; %K, %V = kv_read %cache   ->   %K, %V = %k, %v

    In training every sequence is complete in its step: teacher forcing is the causal mask with shifted labels.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def Differentiate : Pass<"differentiate", "mlir::ModuleOp"> {
  let summary = "makes the entry of a model one that computes the loss of labels and the gradients of weights";
  let description = [{
      func @model(%ids, %seq) -> logits   ->   func @model(%ids, %seq, %labels) -> loss

    The gradients of all weights are added to their buffers (`talc.get_gradient`). Every function that the model calls
    becomes two, @f.forward and @f.backward; what the second reads of the first is a result of that.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [
    Option<"smoothing", "smoothing", "double", "0.0", "label smoothing: the share of the loss that all tokens have">,
    Option<"recompute", "recompute", "std::string", "\"cheap\"",
           "which values the backward functions compute again: none, or those of cheap operations">
  ];
}

def SimplifyGradients : Pass<"simplify-gradients", "mlir::ModuleOp"> {
  let summary = "writes gradients with operations of forward functions where these can say the same";
  let description = [{
      linear_dgrad %g, %w   ->   linear %g, transpose(%w)
      norm_wgrad %g, %x into %w   ->   sum_rows (%g * norm(%x, 1)) into %w

    Passes that follow then fuse, pack and lower them as they do in forward functions.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

//===--- optimize: talc -> talc ----------------------------------------------------------------------------------===//

def AssignFormats : Pass<"assign-formats", "mlir::ModuleOp"> {
  let summary = "writes on every matrix the storage format it will have";
  let description = [{
      talc.weight @a ...  ->  talc.weight @a ... {format = !talc.stored<q5_0>}

    The option `weights` names a format, `checkpoint` for the format of the file, a mix of llama.cpp, which chooses by
    what a matrix is for, or formats by weight name. A matrix
    that a recipe makes of others has their format if they agree, else f32. Later passes read `format` instead of
    the option; `hoist-recipes`, after which element types say the same, removes it.

    Given a size such as 4.5bit, the pass solves a knapsack: every matrix starts with its smallest format, then the
    upgrade with the largest error reduction per bit is taken repeatedly until no other fits.
    * The error of a format is measured on the matrix, or on a sample of its rows if it is large: the relative error of
      its products, in which columns count by `importance`.
    * For an embedding table, the relative errors of its rows are averaged, and the table weighs at least as much as
      all other matrices together. A tied table is an embedding table.
    * The error of a matrix with `divergence` is in proportion to that: how far predictions diverge if this matrix
      alone is quantized.
    * Matrices that multiply the same activations get one format, because later passes merge them.
    * A matrix that is quantized by importance gets `quantize_to`; recipes then read its quantized values.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [
    Option<"weights", "weights", "std::string", "\"checkpoint\"",
           "storage format of weights: its name, checkpoint (as the file stores them) or a size; others by weight name">
  ];
}

def ObserveFeatures : Pass<"observe-features", "mlir::ModuleOp"> {
  let summary = "makes the inputs of all matmuls the model's second result";
  let description = [{
      func @model() -> logits  ->  func @model() -> logits, [a | b | ...]

    where linear(a, @w) and linear(b, @v) are in the model or in functions that it calls. The result has all tokens of
    the step. `talc.observed` lists how many features each input has and the names of the matrices. No stage runs this
    pass: calibration does, on a copy of the model, to find `importance`.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def SpecializeFormats : Pass<"specialize-formats", "mlir::ModuleOp"> {
  let summary = "clones layer functions whose calls pass weights in different storage formats";
  let description = [{
      call @block(a), call @block(b)  ->  call @block(a), call @block_2(b)   if a and b are stored in different formats

    Afterwards a weight has one format in every function. There is one function for each combination of formats, not
    for each layer.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def FuseGatedLinear : Pass<"fuse-gated-linear", "mlir::ModuleOp"> {
  let summary = "fuses the first half of a gated feed-forward layer into one op";
  let description = [{
      mul(activation(linear(x, gate)), linear(x, up))  ->  gated_linear(activation, x, gate, up)

    if neither projection has a bias, both weights are stored in one format, and nothing else uses the intermediate
    values. Runs before merge-projections, which would otherwise merge the two projections without their product.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def MergeProjections : Pass<"merge-projections", "mlir::ModuleOp"> {
  let summary = "merges the projections of the same activations (q/k/v) into one linear";
  let description = [{
      linear(x, a), linear(x, b)  ->  y = linear(x, concat(a, b)); slice(y at 0), slice(y at N_a)

    x is read once and the matmul gets wider; a missing bias becomes zeros if another projection has one. Weights stay
    apart if their element types or storage formats differ, or if they have other uses, since they would be stored
    twice.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def MaterializeKv : Pass<"materialize-kv", "mlir::ModuleOp"> {
  let summary = "routes attention over the step's own tokens through a KV cache";
  let description = [{
      attention(q, k, v)  ->  kv_append(scratch, k, v); k', v' = kv_read(scratch); attention(q, k', v')

    A model without a KV cache (an encoder) gets whole sequences, so that it reads what it has just appended.
    Attentions with the same number of heads and the same width share one scratch cache of `talc.max_sequence` tokens.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def SplitEntries : Pass<"split-entries", "mlir::ModuleOp"> {
  let summary = "clones the model for each entry: whole sequences, any number of tokens, exactly one token";
  let description = [{
      @model {talc.entry}, @block  ->  @prefill {talc.entry}, @block.prefill   (? tokens)
                                       @decode {talc.entry}, @block.decode     (1 token; talc.kv_read keeps ? tokens)

    for a model that reads a KV cache or a source. A model that does not gets whole sequences, and becomes @encode.
    Every function gets `talc.entry_name`; functions that no entry reaches are erased. Entries share all weights and
    KV caches.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def TabulateRope : Pass<"tabulate-rope", "mlir::ModuleOp"> {
  let summary = "gives every rope its cosines and sines as a weight";
  let description = "rope(x)  ->  rope(x) table derive(#talc.rotary_table), one row for every position up to talc.max_sequence.";
  let dependentDialects = ["talc::TalcDialect"];
}

def PackWeights : Pass<"pack-weights", "mlir::ModuleOp"> {
  let summary = "packs the weights of linear layers into panels, one layout for prefill and decode";
  let description = [{
      linear(x, w, b)             ->  linear(x, pack(w), pad(b))
      gated_linear(x, gate, up)   ->  gated_linear(x, pack(interleave(gate, up)))

    A packed weight has the storage format that `format` says, or that of its file, if all weights it stands for
    agree, over all calls; else it is f32. Biases stay f32.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [
    Option<"lanes", "lanes", "int64_t", "16", "maximum lanes of a panel, an even number; gate and up of a gated layer take half of them each">,
    Option<"spare", "spare", "int64_t", "0", "panels wider than 16 lanes may leave one lane in this many empty; 0: no more lanes than panels of 16 do">
  ];
}

def QuantizeActivations : Pass<"quantize-activations", "mlir::ModuleOp"> {
  let summary = "quantizes activations to int8, or converts them to bf16, for the weights they are multiplied with";
  let description = [{
      linear(x, w), gated_linear(x, w)  ->  linear(quantize(x), w), gated_linear(quantize(x), w)
      experts(x, w down v)              ->  experts(quantize(x), w down v rounding T)

    if w, or v, is packed and stored as integers with scales or, with the option `bf16`, in bf16. Layers that read the
    same activations share the quantized ones. Their format is q8_sums; beside 4-bit floats, if 256 divides the
    features, q8_256_sums; beside blocks of 256, q8_k_sums. Targets with dot products run this pass. The choice
    depends on formats alone, so that the bits of a token do not depend on the other tokens of the step.
  }];
  let options = [Option<"bf16", "bf16", "bool", "false", "convert the activations of bf16 weights to bf16">];
  let dependentDialects = ["talc::TalcDialect"];
}

def ShareEmbedding : Pass<"share-embedding", "mlir::ModuleOp"> {
  let summary = "makes an embedding read the packed LM head, or a table in the storage format of the weights";
  let description = [{
      embedding(ids, table)  ->  embedding(ids, pack(table))      if the module also has a linear with pack(table)
                             ->  embedding(ids, convert(table))   if the table has another storage format
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def HoistRecipes : Pass<"hoist-recipes", "mlir::ModuleOp"> {
  let summary = "turns every talc.derive into a talc.weight of the module";
  let description = [{
      func @block(%w) { derive(r, %w) }  call @block(get_weight @a)
        ->  talc.weight @a.packed = r of [@a];  func @block(%p)  call @block(get_weight @a.packed)

    Equal recipes share one weight. Arguments and weights without uses are erased, and so is `format`, which
    element types now say.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

//===--- lower: talc -> linalg, kernel ---------------------------------------------------------------------------===//

def ConvertTalcToKernel : Pass<"convert-talc-to-kernel", "mlir::ModuleOp"> {
  let summary = "lowers talc ops to compute ops of the kernel dialect or linalg.generic, on tensors";
  let description = [{
    Functions take the running step as their first argument and write into a tensor of the caller. Weights must be packed,
    ropes tabulated, and keys in a KV cache.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::bufferization::BufferizationDialect"];
}

def FuseEpilogues : Pass<"fuse-epilogues", "mlir::ModuleOp"> {
  let summary = "fuses elementwise consumers of a matmul into its epilogue";
  let description = [{
      y = matmul(x, w); z = f(y, r)  ->  z = matmul(x, w) with the epilogue f(sum, r)

    if the matmul has no other user. y is never stored.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

//===--- bufferize: tensors -> memref ----------------------------------------------------------------------------===//

def LayoutKvCache : Pass<"layout-kv-cache", "mlir::ModuleOp"> {
  let summary = "adds the target's layout to the type of every KV cache";
  let description = [{
      !talc.kv_cache<2 x 64 x 1024>  ->  !talc.kv_cache<2 x 64 x 1024 in #kernel.kv_panels<16 x f32>>

    Caches that have a layout keep it. The capacity of a ring is rounded up to a multiple of the option `ring`.
  }];
  let options = [Option<"tokens", "tokens", "int64_t", "16", "tokens of a panel">,
                 Option<"ring", "ring", "int64_t", "256", "tokens that the capacity of a ring is a multiple of">];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def SplitKv : Pass<"split-kv", "mlir::ModuleOp"> {
  let summary = "splits the attention of a single token into tasks over key blocks (flash decoding)";
  let description = [{
    attention(q, cache) -> out   =>   attention(q, cache) block n -> partials;  combine(partials) -> out

    if the token may see several blocks. Decoding then has a task for every block and head. The size of a block is fixed and
    blocks are merged in their order, so that results do not depend on the number of threads.
  }];
  let options = [Option<"keys", "keys", "int64_t", "0", "keys of a block, a multiple of 64; 0: chosen by the cost model">];
  let dependentDialects = ["talc::kernel::KernelDialect", "mlir::memref::MemRefDialect"];
}

def DivideWork : Pass<"divide-work", "mlir::ModuleOp"> {
  let summary = "wraps every compute op in kernel.tasks: how it is split, and which part a worker does";
  let description = [{
      norm %x into %y   ->   tasks over rows by rows { norm %x into %y }

    With a single token, every thread computes row-wise ops redundantly, into memory of its own, which leaves five barriers
    in a decoder layer.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def OutlineKernels : Pass<"outline-kernels", "mlir::ModuleOp"> {
  let summary = "outlines every compute op with its tasks into a function; equal ones share one";
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def InsertBarriers : Pass<"insert-barriers", "mlir::ModuleOp"> {
  let summary = "inserts a barrier wherever a worker reads or overwrites the data of another one";
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def PlanMemory : Pass<"plan-memory", "mlir::ModuleOp"> {
  let summary = "assigns offsets to temporaries in the arena, and to weights and KV caches in their sections";
  let description = [{
    Adds `offset` to weights and KV caches, and `talc.plan` to the module: the exact bytes that a step needs.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def CheckStep : Pass<"check-step", "mlir::ModuleOp"> {
  let summary = "proves that barriers suffice: no worker touches memory that another one may still write";
  let description = [{
    It walks the step on planned memory, divided by tokens and not. There is a barrier between two kernels that access the
    same memory, unless every worker meets only its own data; every read sees the last write; every worker reaches every
    barrier.
  }];
}

def MarkKernels : Pass<"mark-kernels", "mlir::ModuleOp"> {
  let summary = "lists the costs of every kernel call, and marks its end for measurements";
  let description = [{
    Adds `talc.kernels` to the module, with an entry for every call of a kernel: fused ops, shapes, operations, bytes, calls
    per step. A kernel.mark with the index of the entry follows the call, for `talc bench`.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}


//===--- schedule: compute ops -> vector, scf --------------------------------------------------------------------===//

include "compiler/passes/schedule/cpu/SchedulePasses.td"
include "compiler/passes/schedule/gpu/SchedulePasses.td"

def ExpandMath : Pass<"expand-math", "mlir::ModuleOp"> {
  let summary = "expands exp, exp2, tanh, erf and log of vectors into polynomials, and conversion to bf16 into integer code";
  let options = [Option<"scalars", "scalars", "bool", "false", "expand scalar operations, too: threads of a workgroup have no vectors">];
  let dependentDialects = ["mlir::vector::VectorDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

//===--- codegen: memref -> llvm ---------------------------------------------------------------------------------===//

include "compiler/passes/codegen/cpu/CodegenPasses.td"
include "compiler/passes/codegen/gpu/CodegenPasses.td"

def CompactArguments : Pass<"compact-arguments", "mlir::ModuleOp"> {
  let summary = "passes buffers as addresses, with only those sizes, strides and offsets that are dynamic";
  let description = [{
      func.call @kernel(%x) : (memref<?x64xf32>) -> ()  ->  func.call @kernel(%address, %rows) : (!llvm.ptr, i64) -> ()
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def MaterializeMasks : Pass<"materialize-masks", "mlir::ModuleOp"> {
  let summary = "expands vector.create_mask into a comparison of lane indices";
  let description = [{
      vector.create_mask %n : vector<8xi1>  ->  arith.cmpi sgt, splat(%n), [0, 1, ..., 7]

    Lane indices have 32 bits.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

//===--- every stage ---------------------------------------------------------------------------------------------===//

def VerifyIr : Pass<"verify-ir"> {
  let summary = "runs the MLIR verifier, before the canonicalizer, which may not terminate on invalid IR";
}

def CheckDialects : Pass<"check-dialects"> {
  let summary = "checks that all operations belong to the given dialects, and runs the MLIR verifier";
  let options = [ListOption<"dialects", "dialects", "std::string", "the dialects that may remain">];
}

#endif // TALC_PASSES
