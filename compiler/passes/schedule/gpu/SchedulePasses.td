// SPDX-License-Identifier: Apache-2.0
// The passes of GPUs in the stages bufferize (those that divide work) and schedule; compiler/passes/Passes.td includes it.

def GpuOption : Option<"gpu", "gpu", "std::string", "\"sm_80\"", "NVIDIA architecture such as sm_80, or vulkan">;
def MmaOption : Option<"mma", "mma", "bool", "true", "use the MMA instruction, if the GPU has one">;

def SplitK : Pass<"split-k", "mlir::ModuleOp"> {
  let summary = "makes the split-K parts of a single row's matmul tasks of their own";
  let description = [{
      matmul %x, %w into %y { epilogue }   ->   matmul %x, %w into %partials {kernel.split_k = 4}
                                                generic %partials[0], ..., %partials[3] into %y { epilogue of their sum }

    Splits a matmul if

    - x has one row, and no groups or gates,
    - its panels are fewer tasks than the GPU has multiprocessors, and
    - K can be divided.

    The parts and the order of their sums follow from the weight's shape, so that one row has the same bits as many.
  }];
  let options = [GpuOption, MmaOption];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect", "mlir::arith::ArithDialect"];
}

def SetDynamicSchedule : Pass<"set-dynamic-schedule", "mlir::ModuleOp"> {
  let summary = "declares that any worker may take any task, as workgroups do";
  let description = [{
      module { ... }   ->   module attributes {kernel.dynamic_schedule} { ... }

    insert-barriers and check-step read it: no worker may rely on results that it computed itself.
  }];
}

def NarrowActivations : Pass<"narrow-activations", "mlir::ModuleOp"> {
  let summary = "marks activations that are stored as f16 or bf16, since only tensor cores read them";
  let description = [{
      call @norm_0(..., %y)                  %y : memref<?x768xf32> {kernel.narrowed = bf16}
      call @matmul_1(%step, %y, %w, ...)   %w : memref<..xbf16>

    Marks a buffer if all ops that read it are matmuls by MMA with weights of the same type, and all that write it store
    every value once. It depends on more than one function, so it runs before functions are looked up in the cache;
    expand-workgroups changes the types. Results have the same bits.
  }];
  let options = [GpuOption];
}

def AssignWorkgroupPlans : Pass<"assign-workgroup-plans", "mlir::ModuleOp"> {
  let summary = "choose the tuning parameters of matmuls and attention on a GPU: from the program, an override, a tuning record, or the cost model";
  let description = [{
      kernel.tasks %s over tiles { matmul }
        ->   kernel.tasks %s over tiles plan <stages = 4, task_panels = 2, task_rows = 32, ...> { matmul }

    Ops that have a plan keep it; parameters that it lacks are added. No parameter changes the order of sums.
  }];
  let options = [GpuOption, MmaOption,
                 Option<"plans", "plans", "std::string", "\"\"",
                        "plan overrides: KERNEL: NAME = NUMBER, ...; ... where KERNEL is a name with * for anything, or @ and a digest">];
  let dependentDialects = ["talc::kernel::KernelDialect"];
}

def ExpandWorkgroups : Pass<"expand-workgroups", "mlir::ModuleOp"> {
  let summary = "replaces compute ops by the code of a thread of the workgroup that does a task";
  let description = [{
      tasks over rows { norm %x into %y }   ->   tasks over rows of (%n) { for its rows: thread t has columns t, t + n, ... }

    Every sum is one chain in a fixed order, whatever else is in the step. With MMA, matmuls of f16 or bf16 weights convert
    their activations to that type. Sets kernel.launch on the function.
  }];
  let options = [GpuOption, MmaOption];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::nvgpu::NVGPUDialect", "mlir::scf::SCFDialect",
                           "mlir::NVVM::NVVMDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::vector::VectorDialect"];
}

def DistributeWorkgroups : Pass<"distribute-workgroups", "mlir::ModuleOp"> {
  let summary = "gives every task a workgroup, and every kernel a grid that follows from the rows of the step";
  let description = [{
      tasks over tiles of (%n, 24) grain [8, 4] { body }
        ->   body for rows from 8 * x and panels from 4 * y on
             kernel.launch = #kernel.launch<..., grid = <rows_argument = 1, divisor = 8, y = 6>>
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::scf::SCFDialect", "mlir::arith::ArithDialect"];
}
