// SPDX-License-Identifier: Apache-2.0
// Stage schedule of graphics cards; compiler/passes/Passes.td includes it.

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
                           "mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::memref::MemRefDialect",
                           "mlir::vector::VectorDialect"];
}

def DistributeWorkgroups : Pass<"distribute-workgroups", "mlir::ModuleOp"> {
  let summary = "every task is a workgroup's; how many there are follows from the rows of the step";
  let description = [{
      tasks over tiles of (%n, 24) grain [8, 4] { body }   ->   body for rows from 8 * x and panels from 4 * y on
                                                                {kernel.grid = {rows = 1, divisor = 8, y = 6, ...}}
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::scf::SCFDialect", "mlir::arith::ArithDialect"];
}
