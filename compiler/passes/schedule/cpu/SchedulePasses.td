// SPDX-License-Identifier: Apache-2.0
// Stage schedule of processors; compiler/passes/Passes.td includes it.

def AttachIsaTraits : Pass<"attach-isa-traits", "mlir::ModuleOp"> {
  let summary = "write the traits of the target's instruction set on the module";
  let description = [{
      module  ->  module attributes {kernel.isa = #kernel.isa<lanes = 16, registers = 32, ...>}

    Other passes of the stage ask for traits instead of guessing them from the width of a vector. A target passes its own;
    by the option, the module gets those of NEON, AVX2 or AVX-512.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def AssignPlans : Pass<"assign-plans", "mlir::ModuleOp"> {
  let summary = "says how the loops of every piece are to be cut: by the program, a wish, a record, or the cost model";
  let description = [{
      kernel.tasks %s over tiles by rows { matmul }
        ->   kernel.tasks %s over tiles by rows plan <block_rows = 192, ..., tile_rows = 6> { matmul }

    Pieces that have a plan keep it; numbers that it lacks are added. The passes that make loops look at plans alone.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"cacheBytes", "cache-bytes", "int64_t", "2097152",
                        "bytes of L2, of which a block of rows and its weights take half">,
                 Option<"dropsPrefetches", "drops-prefetches", "bool", "false",
                        "prefetches for which there is no room are dropped, and do not wait">,
                 Option<"prefetchesStreams", "prefetches-streams", "bool", "false",
                        "the processor brings a stream in by itself, and faster than by prefetches">,
                 Option<"plans", "plans", "std::string", "\"\"",
                        "KERNEL: NAME = NUMBER, ...; ... where KERNEL is a name with * for anything, or @ and a digest">];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def AssignGenerators : Pass<"assign-generators", "mlir::ModuleOp"> {
  let summary = "says which kernels a generator makes the code of, instead of the target's passes and LLVM";
  let description = [{
      func @matmul_0 {kernel.op = "matmul"}
        ->   {kernel.op = "matmul", kernel.generator = {name = "halide", build = "91c0..."}}

    A kernel that the generator cannot express stays as it is, with a remark.
  }];
  let options = [Option<"generator", "generator", "std::string", "\"halide\"",
                        "halide: wherever it can; auto: where a plan wants it, and can do without">,
                 Option<"build", "build", "std::string", "\"\"", "a digest of the generator's build">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::func::FuncDialect"];
}

def MatmulToHalide : Pass<"matmul-to-halide", "mlir::ModuleOp"> {
  let summary = "products of contractions become calls of functions that Halide makes";
  let description = [{
      tasks over tiles { matmul %x, %w }   ->   tasks over tiles { call @product(%x, %w, %sums); epilogue of %sums }

    Of the kernels that assign-generators gave to Halide. The loops around, the division of the work and the epilogue are
    those of expand-matmul, and so are the bits. hgen makes the code; where it fails and another generator may do, the
    kernel is left to expand-matmul.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"processor", "processor", "std::string", "\"\"",
                        "Halide's name of what the code is for; empty: functions are declared, and have no code">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect", "mlir::func::FuncDialect"];
}

def AttentionToHalide : Pass<"attention-to-halide", "mlir::ModuleOp"> {
  let summary = "the two products of attention become calls of functions that Halide makes";
  let description = [{
    Of the kernels that assign-generators gave to Halide: queries and keys, weights and values, of a tile of rows and a
    block of keys. The loops around, masks and the softmax are those of expand-attention, and so are the bits.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"processor", "processor", "std::string", "\"\"",
                        "Halide's name of what the code is for; empty: functions are declared, and have no code">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::func::FuncDialect"];
}

def RowsToHalide : Pass<"rows-to-halide", "mlir::ModuleOp"> {
  let summary = "what row pieces do with their columns becomes calls of functions that Halide makes";
  let description = [{
      for %row { columns of softmax }   ->   for %row { call @line(%x at %row, %y at %row) }

    Of norms, softmax, rope and elementwise pieces in the kernels that assign-generators gave to Halide. The loops around
    and the order of sums are those of expand-rows, and so are the bits.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">,
                 Option<"processor", "processor", "std::string", "\"\"",
                        "Halide's name of what the code is for; empty: functions are declared, and have no code">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::func::FuncDialect"];
}

def MatmulToAmx : Pass<"matmul-to-amx", "mlir::ModuleOp"> {
  let summary = "contractions of bf16 by bf16 become products of matrix registers";
  let description = [{
      tasks over tiles { matmul %x, %w }
        ->   tasks over tiles { for panel { for k { %w in pairs of k; for 16 rows { amx.tile_mulf } } epilogue } }

    Of the processors that have AMX. Contractions of integers are marked, for expand-matmul to give the registers their
    many rows; those that the registers do not take, by type or by shape, are left to it as they are.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect", "mlir::amx::AMXDialect"];
}

def ExpandMatmul : Pass<"expand-matmul", "mlir::ModuleOp"> {
  let summary = "register tiles and cache blocks for contractions";
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect"];
}

def ExpandAttention : Pass<"expand-attention", "mlir::ModuleOp"> {
  let summary = "loops for attention: two passes over the keys, or the online softmax";
  let description = [{
    Expands kernel.attention, and kernel.combine where split-kv divided one. Says what it chose, and why, as remarks of
    the category `schedule` (talc-opt --remarks-filter=schedule).
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect"];
}

def ExpandMoe : Pass<"expand-moe", "mlir::ModuleOp"> {
  let summary = "the rows of every expert, in register tiles";
  let description = [{
    kernel.experts becomes loops: for each expert the rows of the task that chose it are listed, and pass its panels in
    tiles.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect"];
}

def ExpandMemory : Pass<"expand-memory", "mlir::ModuleOp"> {
  let summary = "loops over a memory of earlier segments";
  let description = [{
    kernel.memory becomes loops: for each row of a sequence in turn, its queries read the head's matrix and its key adds to
    what the segment will leave there.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect"];
}

def ExpandRows : Pass<"expand-rows", "mlir::ModuleOp"> {
  let summary = "loops for the pieces that treat each row by itself";
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 lanes of a vector register, unless the module has kernel.isa">];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "mlir::arith::ArithDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect"];
}

def DistributeTasks : Pass<"distribute-tasks", "mlir::ModuleOp"> {
  let summary = "tasks become loops in which every thread of a processor does its share of them";
  let description = [{
      tasks over tiles { body }   ->   while (task = claim) body(rows of the task's block, panels of its group)

    Rows are shared in equal parts, heads of a single row in turn; tiles of many rows and queries are claimed while the
    step runs.
  }];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::arith::ArithDialect"];
}
