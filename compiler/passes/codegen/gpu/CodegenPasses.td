// SPDX-License-Identifier: Apache-2.0
// Stage codegen of GPUs; compiler/passes/Passes.td includes it.

def TabulateLaunches : Pass<"tabulate-launches", "mlir::ModuleOp"> {
  let summary = "functions that call kernels become lists of launches";
  let description = [{
      func @prefill(%step) { %x = kernel.arena ...; call @norm_0(%step, %x, ...) }
        ->  func private @prefill {kernel.launches = [{call = @norm_0, arguments = [...], mark = 7}, ...] }

    Every argument is a base (weights, states, arena, results, or an argument of the list itself), plus bytes, plus bytes
    per row. Barriers go: launches follow one another.
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def ConvertTablesToLLVM : Pass<"convert-tables-to-llvm", "mlir::ModuleOp"> {
  let summary = "what kernels for GPUs read of the running step becomes loads from StepTables";
  let description = [{
    `!kernel.step` becomes the address of StepTables (runtime/device/gpu/LaunchTable.h), `!talc.kv_cache` that of the state
    in slot 0.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

def NarrowIndices : Pass<"narrow-indices", "mlir::func::FuncOp"> {
  let summary = "indices that are known to be small become numbers of 32 bits, in kernels that need all registers";
  let description = [{
      %lane = arith.remui %thread, %c32 : index   ->   %lane = arith.remui %number, %c32_i32 : i32

    Of functions with the attribute `kernel.narrow`.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def ConvertWorkgroupsToNVVM : Pass<"convert-workgroups-to-nvvm", "mlir::ModuleOp"> {
  let summary = "threads, barriers, shuffles, shared memory and functions of math become what NVIDIA GPUs have";
  let description = [{
      math.exp2 %x   ->   llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"(%x)

    Nothing is left that would call a library.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def ConvertBuffersToAddresses : Pass<"convert-buffers-to-addresses", "mlir::ModuleOp"> {
  let summary = "kernels read and write memory through addresses, and the running step in StepTables";
  let description = [{
      %v = memref.load %x[%i, %j]   ->   %p = spirv.ConvertUToPtr %address + 4 * (64 * %i + %j);  %v = spirv.Load %p

    Every argument of a kernel becomes numbers of 64 bits, as PassedBuffer.h says. Memory of the workgroup stays.
  }];
  let dependentDialects = ["mlir::spirv::SPIRVDialect", "mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

def ConvertWorkgroupsToSPIRV : Pass<"convert-workgroups-to-spirv", "mlir::ModuleOp"> {
  let summary = "every kernel becomes a module of SPIR-V with one entry point";
  let description = [{
      func @norm(%step: i64, ...)   ->   spirv.module @norm PhysicalStorageBuffer64 GLSL450 { spirv.func @norm() ... }

    The one push constant is the address of the arguments.
  }];
  let dependentDialects = ["mlir::spirv::SPIRVDialect", "mlir::arith::ArithDialect"];
}
