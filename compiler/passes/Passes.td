// SPDX-License-Identifier: Apache-2.0
// The table of contents of talc's passes, in the order in which compiler/Pipeline.cpp runs them. What only one kind of
// machine has is declared in the folders of that kind.
#ifndef TALC_PASSES
#define TALC_PASSES

include "mlir/Pass/PassBase.td"

//===--- the talc dialect ----------------------------------------------------------------------------------------===//

def CheckModel : Pass<"check-model", "mlir::ModuleOp"> {
  let summary = "fails if a model is not what its operations' verifiers cannot see by themselves";
  let description = [{
    Entries are `(tensor<?xi32>, !talc.sequences) -> rows`; what needs all rows of the step gets them, and no selected
    ones; tables, biases and states suffice for `talc.max_sequence` tokens.
  }];
}

//===--- optimize: talc -> talc ----------------------------------------------------------------------------------===//

class WeightsOption<string subject> : Option<"weights", "weights", "std::string", "\"checkpoint\"",
    "storage format of " # subject # ": its name, or checkpoint (as the file stores them); others by name of the weight">;

def ChooseFormats : Pass<"choose-formats", "mlir::ModuleOp"> {
  let summary = "a storage format for each matrix, so that all together have a wanted size and least error";
  let description = [{
      talc.weight @a ...  ->  talc.weight @a ... {talc.format = !talc.stored<q5_0>}

    if `weights` is a size such as 4.5bit. Every matrix is rounded to every format, or a part of its rows if it is large;
    the error is what that changes of its products, as a share of them, features counting by `talc.importance`. Each row
    of a table of embeddings counts alike, and the table at least as much as all matrices together that are only
    multiplied; one that is also the head is a table. Of a matrix with `talc.divergence` the error is in proportion to
    that, how far predictions diverge when only this one is rounded. Matrices that multiply the same activations get one
    format, since other passes make one contraction of them. A matrix that is to be rounded by importance gets
    `talc.quantize_to`: what follows from it takes these blocks.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [WeightsOption<"weights">];
}

def ObserveFeatures : Pass<"observe-features", "mlir::ModuleOp"> {
  let summary = "the model's second result becomes what its layers multiply by matrices";
  let description = [{
      func @model() -> logits  ->  func @model() -> logits, [a | b | ...]

    where linear(a, @w) and linear(b, @v) stand in the model or in functions that it calls. Rows are all of the step.
    `talc.observed` lists how many features each has and the names of the matrices. The stages do not run it: whoever
    calibrates a model compiles what it makes (`talc.importance`).
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def SpecializeFormats : Pass<"specialize-formats", "mlir::ModuleOp"> {
  let summary = "layers whose weights are stored in different formats get functions of their own";
  let description = [{
      call @block(a), call @block(b)  ->  call @block(a), call @block_2(b)   if a and b are stored in different formats

    so that in every function a weight has one format. There are as many functions as combinations, not as layers.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [WeightsOption<"weights">];
}

def FuseGatedLinear : Pass<"fuse-gated-linear", "mlir::ModuleOp"> {
  let summary = "one op for the first half of a gated feed-forward layer";
  let description = [{
      mul(activation(linear(x, gate)), linear(x, up))  ->  gated_linear(activation, x, gate, up)

    Only without biases, of weights that are stored in one format, and only if nothing else uses the intermediate values.
    Runs before merge-projections, which would otherwise join the two projections without their product.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [WeightsOption<"projections">];
}

def MergeProjections : Pass<"merge-projections", "mlir::ModuleOp"> {
  let summary = "one linear for all projections of the same activations (q/k/v)";
  let description = [{
      linear(x, a), linear(x, b)  ->  y = linear(x, concat(a, b)); slice(y at 0), slice(y at N_a)

    x is read once and the contraction gets wider; a missing bias becomes zeros when another one is present. Weights of
    different element types stay apart, and so do weights that are stored in different formats or have other uses, which
    would be stored twice.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [WeightsOption<"projections">];
}

def MaterializeKv : Pass<"materialize-kv", "mlir::ModuleOp"> {
  let summary = "attention over the step's own rows goes through a state";
  let description = [{
      attention(q, k, v)  ->  append(scratch, k, v); k', v' = read(scratch); attention(q, k', v')

    A model without state (an encoder) hands in whole sequences, so what is read is what was appended. Attentions with
    equal heads and width share one scratch state of `talc.max_sequence` tokens.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def SplitEntries : Pass<"split-entries", "mlir::ModuleOp"> {
  let summary = "the phases of a model: whole sequences, any number of tokens, exactly one";
  let description = [{
      @model {talc.entry}, @block  ->  @prefill {talc.entry}, @block.prefill   (? rows)
                                       @decode {talc.entry}, @block.decode     (1 row; talc.kv_read keeps ? rows)

    for an entry that reads what sequences keep between steps, or a source. An entry that does not is given whole
    sequences, and becomes @encode. Every function gets `talc.entry_name`; those that no entry reaches are left out. Phases
    share all weights and states.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

def TabulateRope : Pass<"tabulate-rope", "mlir::ModuleOp"> {
  let summary = "gives every rope its cosines and sines as a weight";
  let description = "rope(x)  ->  rope(x) table derive(#talc.rotary_table), one row for every position up to talc.max_sequence.";
  let dependentDialects = ["talc::TalcDialect"];
}

def PackWeights : Pass<"pack-weights", "mlir::ModuleOp"> {
  let summary = "weights of linear layers as panels, in the one layout that serves many tokens and one";
  let description = [{
      linear(x, w, b)             ->  linear(x, pack(w), pad(b))
      gated_linear(x, gate, up)   ->  gated_linear(x, pack(interleave(gate, up)))

    With `weights=checkpoint` a weight keeps the element type of its file when all weights behind it agree, over all
    calls; else it is f32. Biases stay f32.
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [
    WeightsOption<"packed weights">,
    Option<"lanes", "lanes", "int64_t", "16", "most lanes of a panel, an even number; a gated layer's gate and up take half of them each">,
    Option<"spare", "spare", "int64_t", "0", "panels wider than 16 lanes may leave one lane in so many empty; 0: no more lanes than panels of 16 do">
  ];
}

def QuantizeActivations : Pass<"quantize-activations", "mlir::ModuleOp"> {
  let summary = "activations are rounded to what a weight is multiplied as";
  let description = [{
      linear(x, w), gated_linear(x, w)  ->  linear(quantize(x), w), gated_linear(quantize(x), w)
      experts(x, w down v)              ->  experts(quantize(x), w down v rounding T)

    where w, or v, is packed and stored in a format of small integers with scales, or with `bf16` in bf16. Layers that read the
    same activations share what is rounded: q8_256_sums, beside levels of eight bits and where 256 does not divide the
    features q8_sums, beside blocks of 256 q8_k_sums. For targets with dot products; which layers it is follows from formats
    alone, so that a row has the same bits whatever the rows beside it.
  }];
  let options = [Option<"bf16", "bf16", "bool", "false", "whether weights of bf16 take activations of bf16">];
  let dependentDialects = ["talc::TalcDialect"];
}

def ShareEmbedding : Pass<"share-embedding", "mlir::ModuleOp"> {
  let summary = "an embedding reads the packed vocabulary projection, or a table as narrow as the weights";
  let description = [{
      embedding(ids, table)  ->  embedding(ids, pack(table))      if the module also has a linear with pack(table)
                             ->  embedding(ids, convert(table))   if `weights` asks for another element type
  }];
  let dependentDialects = ["talc::TalcDialect"];
  let options = [WeightsOption<"embedding tables">];
}

def HoistRecipes : Pass<"hoist-recipes", "mlir::ModuleOp"> {
  let summary = "every talc.derive becomes a talc.weight of the module";
  let description = [{
      func @block(%w) { derive(r, %w) }  call @block(get_weight @a)
        ->  talc.weight @a.packed = r of [@a];  func @block(%p)  call @block(get_weight @a.packed)

    Equal recipes share one weight. Arguments and weights that nothing uses any more disappear.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

//===--- lower: talc -> linalg, kernel ---------------------------------------------------------------------------===//

def ConvertTalcToKernel : Pass<"convert-talc-to-kernel", "mlir::ModuleOp"> {
  let summary = "every talc op becomes a piece of the kernel dialect or a linalg.generic, on tensors";
  let description = [{
    Functions take the running step first and write into a tensor that the caller gives; weights must be packed, ropes
    tabulated, keys in a state.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::bufferization::BufferizationDialect"];
}

def FuseEpilogues : Pass<"fuse-epilogues", "mlir::ModuleOp"> {
  let summary = "elementwise consumers of a contraction move into its epilogue";
  let description = [{
      y = matmul(x, w); z = f(y, r)  ->  z = matmul(x, w) with the epilogue f(sum, r)

    y is never stored. Fires when the contraction has no other user.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

//===--- bufferize: tensors -> memref ----------------------------------------------------------------------------===//

def LayoutKvCache : Pass<"layout-kv-cache", "mlir::ModuleOp"> {
  let summary = "the target's layout becomes part of the type of every state";
  let description = [{
      !talc.kv_cache<2 x 64 x 1024>  ->  !talc.kv_cache<2 x 64 x 1024 in #kernel.kv_panels<16 x f32>>

    States that have a layout keep it. A ring gets room for a multiple of the option `ring`.
  }];
  let options = [Option<"tokens", "tokens", "int64_t", "16", "tokens of a panel">,
                 Option<"ring", "ring", "int64_t", "256", "tokens that the size of a ring is a multiple of">];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def SplitKv : Pass<"split-kv", "mlir::ModuleOp"> {
  let summary = "the blocks of keys that a single row attends to become tasks of their own";
  let description = [{
    attention(q, state) -> out   =>   attention(q, state) block n -> parts;  combine(parts) -> out

    where a row may see several blocks. Then decoding has a task for every block and head, however many threads there
    are; the size of a block is fixed, and blocks are brought together in their order, so that bits do not depend on it.
  }];
  let options = [Option<"keys", "keys", "int64_t", "0", "keys of a block, a multiple of 64; 0: the cost model's choice">];
  let dependentDialects = ["talc::kernel::KernelDialect", "mlir::memref::MemRefDialect"];
}

def DivideWork : Pass<"divide-work", "mlir::ModuleOp"> {
  let summary = "puts every piece into tasks: into what parts it falls, and what every worker does of them";
  let description = [{
      norm %x into %y   ->   tasks over rows by rows { norm %x into %y }

    With a single row, row pieces are computed by every thread into memory of its own,
    which leaves five barriers in a decoder layer.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def OutlineKernels : Pass<"outline-kernels", "mlir::ModuleOp"> {
  let summary = "every piece with its tasks becomes a function; equal ones share one";
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def InsertBarriers : Pass<"insert-barriers", "mlir::ModuleOp"> {
  let summary = "a barrier wherever data crosses threads";
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def PlanMemory : Pass<"plan-memory", "mlir::ModuleOp"> {
  let summary = "places temporaries in the arena, weights and states in their sections";
  let description = [{
    Adds `talc.offset` to weights and states and `talc.plan` to the module: the exact bytes that a step needs.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def CheckStep : Pass<"check-step", "mlir::ModuleOp"> {
  let summary = "proves that no worker of a step touches what another may still write";
  let description = [{
    Walks the step on planned memory, in both divisions: between two kernels that meet in memory stands a barrier, unless
    every worker meets only itself; what is read was written last; every worker comes to every barrier.
  }];
}

def MarkKernels : Pass<"mark-kernels", "mlir::ModuleOp"> {
  let summary = "lists what every kernel does and needs, and marks where it ends";
  let description = [{
    Adds `talc.kernels` to the module, an entry for every place that calls a kernel: what was fused, shapes, operations,
    bytes, calls per step. A kernel.mark with the place of the entry follows the call, for `talc bench`.
  }];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}


//===--- schedule: pieces -> vector, scf -------------------------------------------------------------------------===//

include "compiler/passes/schedule/cpu/SchedulePasses.td"
include "compiler/passes/schedule/gpu/SchedulePasses.td"

def ExpandMath : Pass<"expand-math", "mlir::ModuleOp"> {
  let summary = "polynomials for exp, exp2, tanh, erf and log on vectors, integers that round to bf16";
  let options = [Option<"scalars", "scalars", "bool", "false", "of scalars, too: the threads of a workgroup have no vectors">];
  let dependentDialects = ["mlir::vector::VectorDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

//===--- codegen: memref -> llvm ---------------------------------------------------------------------------------===//

include "compiler/passes/codegen/cpu/CodegenPasses.td"
include "compiler/passes/codegen/gpu/CodegenPasses.td"

def CompactArguments : Pass<"compact-arguments", "mlir::ModuleOp"> {
  let summary = "a buffer is passed as its address, and the sizes, strides and offset that its type does not tell";
  let description = [{
      func.call @kernel(%x) : (memref<?x64xf32>) -> ()  ->  func.call @kernel(%address, %rows) : (!llvm.ptr, i64) -> ()
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def MaterializeMasks : Pass<"materialize-masks", "mlir::ModuleOp"> {
  let summary = "the first lanes of a vector become a comparison of the lanes' numbers";
  let description = [{
      vector.create_mask %n : vector<8xi1>  ->  arith.cmpi sgt, splat(%n), [0, 1, ..., 7]

    Lanes are counted in 32 bits.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

//===--- every stage ---------------------------------------------------------------------------------------------===//

def VerifyIr : Pass<"verify-ir"> {
  let summary = "fails if the program is not valid: before the canonicalizer, which an invalid one may keep busy for ever";
}

def CheckDialects : Pass<"check-dialects"> {
  let summary = "fails if an operation is not of the given dialects, or the program is not valid";
  let options = [ListOption<"dialects", "dialects", "std::string", "the dialects that may remain">];
}

#endif // TALC_PASSES
