// SPDX-License-Identifier: Apache-2.0
// GPUs' own passes: of stage bufferize those that divide work, of stage schedule the others;
// compiler/passes/Passes.td includes it.

def SplitK : Pass<"split-k", "mlir::ModuleOp"> {
  let summary = "parts of k of a single row's contraction are tasks of their own";
  let description = [{
      matmul %x, %w into %y { epilogue }   ->   matmul %x, %w into %parts {kernel.split_k = 4}
                                                  generic %parts[0], ..., %parts[3] into %y { epilogue of their sum }

    Panels are too few to keep a GPU busy. Parts and the order of their sums follow from the weight's shape, so that one
    row has the bits of many.
  }];
  let options = [Option<"matrices", "matrices", "bool", "false", "there are instructions of the form m16n8k16">];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect", "mlir::arith::ArithDialect"];
}

def SetDynamicSchedule : Pass<"set-dynamic-schedule", "mlir::ModuleOp"> {
  let summary = "says of a program that its workers take any task, as workgroups do";
  let description = [{
      module { ... }   ->   module attributes {kernel.dynamic_schedule} { ... }

    Barriers and their check follow from it: no piece finds what the same worker left.
  }];
}

def NarrowActivations : Pass<"narrow-activations", "mlir::ModuleOp"> {
  let summary = "notes which rows only contractions by matrix instructions read: they are stored as these round them";
  let description = [{
      call @norm_0(..., %y)                  %y : memref<?x768xf32> {kernel.narrowed = bf16}
      call @matmul_1(%step, %y, %w, ...)   %w : memref<..xbf16>

    It depends on more than a function, so it is noted before functions are looked for in the cache; expand-workgroups
    changes the types. The bits are the same.
  }];
}

def ExpandWorkgroups : Pass<"expand-workgroups", "mlir::ModuleOp"> {
  let summary = "pieces become what the threads of a workgroup do of a task";
  let description = [{
      tasks over rows { norm %x into %y }   ->   tasks over rows of (%n) { for its rows: thread t has columns t, t + n, ... }

    Every sum is one chain in a fixed order, whatever else is in the step. With `matrices` contractions of weights in f16 or
    bf16 round their rows to that type and become matrix instructions.
  }];
  let options = [Option<"matrices", "matrices", "bool", "false", "there are instructions of the form m16n8k16">,
                 Option<"subgroup", "subgroup", "int64_t", "32",
                        "neighbouring threads that shuffle among themselves; 1: nobody knows, and none do">];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::nvgpu::NVGPUDialect", "mlir::scf::SCFDialect",
                           "mlir::NVVM::NVVMDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::vector::VectorDialect"];
}

def DistributeWorkgroups : Pass<"distribute-workgroups", "mlir::ModuleOp"> {
  let summary = "every task is a workgroup's; how many there are follows from the rows of the step";
  let description = [{
      tasks over tiles of (%n, 24) grain [8, 4] { body }   ->   body for rows from 8 * x and panels from 4 * y on
                                                                {kernel.grid = {rows = 1, divisor = 8, y = 6, ...}}
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::scf::SCFDialect", "mlir::arith::ArithDialect"];
}
