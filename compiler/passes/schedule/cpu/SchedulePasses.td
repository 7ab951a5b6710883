// SPDX-License-Identifier: Apache-2.0
// Passes of the schedule stage for CPUs; compiler/passes/Passes.td includes this file.

def AttachIsaTraits : Pass<"attach-isa-traits", "mlir::ModuleOp"> {
  let summary = "write the traits of the target's instruction set on the module";
  let description = [{
      module  ->  module attributes {kernel.isa = {lanes = 16, registers = 32, bf16_pairs, ...}}

    Other passes of the stage ask for traits instead of guessing them from the width of a vector. A target passes its own;
    by the option, the module gets those of NEON, AVX2 or AVX-512.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def AssignPlans : Pass<"assign-plans", "mlir::ModuleOp"> {
  let summary = "choose the tuning parameters of every op: from the program, an override, a tuning record, or the cost model";
  let description = [{
      kernel.tasks %s over tiles by rows { matmul }
        ->   kernel.tasks %s over tiles by rows plan <block_rows = 192, ..., tile_rows = 6> { matmul }

    Ops that have a plan keep it; parameters that it lacks are added. The passes that make loops read plans only.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"cacheBytes", "cache-bytes", "int64_t", "2097152",
                        "bytes of L2, of which a block of rows and its weights take half">,
                 Option<"dropsPrefetches", "drops-prefetches", "bool", "false",
                        "the processor drops prefetches for which there is no room, instead of waiting">,
                 Option<"prefetchesStreams", "prefetches-streams", "bool", "false",
                        "hardware prefetchers read a stream faster than software prefetches">,
                 Option<"plans", "plans", "std::string", "\"\"",
                        "plan overrides: KERNEL: NAME = NUMBER, ...; ... where KERNEL is a name with * for anything, or @ and a digest">];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def AssignGenerators : Pass<"assign-generators", "mlir::ModuleOp"> {
  let summary = "choose the kernels whose code another generator makes, instead of the target's passes and LLVM";
  let description = [{
      func @matmul_0 {kernel.op = "matmul"}
        ->   {kernel.op = "matmul", kernel.generator = {name = "halide", build = "91c0..."}}

    A kernel that the generator cannot express stays as it is, with a remark.
  }];
  let options = [Option<"generator", "generator", "std::string", "\"halide\"",
                        "halide: wherever it can; auto: where a plan chooses it, and other code will do">,
                 Option<"build", "build", "std::string", "\"\"", "a digest of the generator's build">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::func::FuncDialect"];
}

def MatmulToHalide : Pass<"matmul-to-halide", "mlir::ModuleOp"> {
  let summary = "replace the products of matmuls by calls of functions that Halide makes";
  let description = [{
      tasks over tiles { matmul %x, %w }   ->   tasks over tiles { call @product(%x, %w, %sums); epilogue of %sums }

    In the kernels that assign-generators gave to Halide. The outer loops, the division of the work and the epilogue are
    those of expand-matmul, and so are the bits. hgen makes the code; if it fails and the generator is optional, the kernel
    is left to expand-matmul.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"processor", "processor", "std::string", "\"\"",
                        "Halide's name of the processor; empty: functions are declared, and have no code">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect", "mlir::func::FuncDialect"];
}

def AttentionToHalide : Pass<"attention-to-halide", "mlir::ModuleOp"> {
  let summary = "replace the two products of attention by calls of functions that Halide makes";
  let description = [{
    In the kernels that assign-generators gave to Halide: queries times keys, weights times values, of a tile of rows and a
    block of keys. The outer loops, masks and the softmax are those of expand-attention, and so are the bits.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"processor", "processor", "std::string", "\"\"",
                        "Halide's name of the processor; empty: functions are declared, and have no code">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::func::FuncDialect",
                           "mlir::LLVM::LLVMDialect"];
}

def RowsToHalide : Pass<"rows-to-halide", "mlir::ModuleOp"> {
  let summary = "replace what row-wise ops do with their columns by calls of functions that Halide makes";
  let description = [{
      for %row { columns of softmax }   ->   for %row { call @halide(%x at %row, %y at %row) }

    For norms, softmax, RoPE and elementwise ops in the kernels that assign-generators gave to Halide. The outer loops and
    the order of sums are those of expand-rows, and so are the bits.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"processor", "processor", "std::string", "\"\"",
                        "Halide's name of the processor; empty: functions are declared, and have no code">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::func::FuncDialect"];
}

def MatmulToAmx : Pass<"matmul-to-amx", "mlir::ModuleOp"> {
  let summary = "replace matmuls of bf16 by bf16 by tile instructions of AMX";
  let description = [{
      tasks over tiles { matmul %x, %w }
        ->   tasks over tiles { for panel { for k { %w in pairs of k; for 16 rows { amx.tile_mulf } } epilogue } }

    For processors with AMX. Matmuls of integers are marked, so that expand-matmul leaves their many rows to AMX. Matmuls
    that AMX cannot compute, by type or by shape, are left to expand-matmul.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect", "mlir::amx::AMXDialect"];
}

def ExpandMatmul : Pass<"expand-matmul", "mlir::ModuleOp"> {
  let summary = "expand matmuls to register tiles and cache blocks";
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect", "mlir::LLVM::LLVMDialect"];
}

def ExpandAttention : Pass<"expand-attention", "mlir::ModuleOp"> {
  let summary = "expand attention to loops: two passes over the keys, or the online softmax";
  let description = [{
    Expands kernel.attention. Remarks of the category `schedule` say what it chose, and why (talc-opt
    --remarks-filter=schedule).
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::LLVM::LLVMDialect"];
}

def ExpandMoe : Pass<"expand-moe", "mlir::ModuleOp"> {
  let summary = "expand a mixture of experts to register tiles";
  let description = [{
    Replaces kernel.experts by loops: for each expert, the rows of the task that chose it are listed, and pass its panels in
    tiles.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect", "mlir::LLVM::LLVMDialect"];
}

def ExpandGradients : Pass<"expand-gradients", "mlir::ModuleOp"> {
  let summary = "turn compute ops of backward functions that are not row-wise into loops in vectors";
  let description = [{
      linear_wgrad %g, %x into %w   ->   for tiles of %w: for t ascending: sums += %g[t, n] * %x[t, k]

    So are sum_rows, scatter_add and attention_dgrad. Every number of a buffer is one chain, tokens ascending.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect"];
}

def ExpandMemory : Pass<"expand-memory", "mlir::ModuleOp"> {
  let summary = "expand the compressive memory of earlier segments to loops";
  let description = [{
    Replaces kernel.memory by loops: for each token of a sequence, its queries read the head's matrix and its key adds to
    what the segment will leave there.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect"];
}

def ExpandRecurrences : Pass<"expand-recurrences", "mlir::ModuleOp"> {
  let summary = "expand ops with states of recurrences to loops";
  let description = [{
    Replaces kernel.causal_conv, kernel.recurrence and kernel.selective_scan by loops: a task takes a block of columns of a
    head of a sequence through all of its tokens.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect"];
}

def ExpandRows : Pass<"expand-rows", "mlir::ModuleOp"> {
  let summary = "expand row-wise ops to loops";
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect"];
}

def DistributeTasks : Pass<"distribute-tasks", "mlir::ModuleOp"> {
  let summary = "turn tasks into loops in which every thread does its share of them";
  let description = [{
      tasks over tiles { body }   ->   while (task = next task) body(rows of the task's block, panels of its group)

    Rows are shared in contiguous parts, heads of a single token cyclically; tiles of many rows and queries by work stealing
    while the step runs.
  }];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::arith::ArithDialect"];
}
