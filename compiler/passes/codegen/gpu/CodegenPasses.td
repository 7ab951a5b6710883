// SPDX-License-Identifier: Apache-2.0
// The codegen passes of GPUs; compiler/passes/Passes.td includes it.

def TabulateLaunches : Pass<"tabulate-launches", "mlir::ModuleOp"> {
  let summary = "turns functions that call kernels into lists of launches";
  let description = [{
      func @prefill(%step) { %x = kernel.arena ...; call @norm_0(%step, %x, ...) }
        ->  func private @prefill {kernel.launches = [{call = @norm_0, arguments = [...], mark = 7}, ...] }

    Every argument is a base (weights, KV cache, arena, results, or an argument of the list itself), plus bytes, plus bytes
    per token. Barriers are removed, since launches run in order.
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def ConvertTablesToLLVM : Pass<"convert-tables-to-llvm", "mlir::ModuleOp"> {
  let summary = "converts what GPU kernels read of the running step to loads from StepTables";
  let description = [{
    `!kernel.step` becomes the address of StepTables (runtime/device/gpu/LaunchTable.h), `!talc.kv_cache` that of the cache
    in slot 0.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

def NarrowIndices : Pass<"narrow-indices", "mlir::func::FuncOp"> {
  let summary = "computes small indices in 32 bits in kernels that need all registers";
  let description = [{
      %lane = arith.remui %thread, %c32 : index   ->   %lane = arith.remui %number, %c32_i32 : i32

    Changes functions whose kernel.launch has `narrow_indices`.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def ConvertWorkgroupsToNVVM : Pass<"convert-workgroups-to-nvvm", "mlir::ModuleOp"> {
  let summary = "converts gpu and nvgpu ops, shared memory and math functions to NVVM";
  let description = [{
      gpu.barrier        ->   nvvm.barrier0
      nvgpu.mma.sync     ->   nvvm.mma.sync
      math.exp2 %x       ->   llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"(%x)

    Fails if a math function is left that would be a call to a library.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect"];
}

def ConvertBuffersToAddresses : Pass<"convert-buffers-to-addresses", "mlir::ModuleOp"> {
  let summary = "converts accesses of buffers to loads and stores at 64-bit addresses, for SPIR-V";
  let description = [{
      %v = memref.load %x[%i, %j]   ->   %p = spirv.ConvertUToPtr %address + 4 * (64 * %i + %j);  %v = spirv.Load %p

    Arguments of kernels become integers of 64 bits (PassedBuffer.h), and reads of the running step loads from StepTables.
    Shared memory is left for convert-workgroups-to-spirv.
  }];
  let dependentDialects = ["mlir::spirv::SPIRVDialect", "mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

def ConvertWorkgroupsToSPIRV : Pass<"convert-workgroups-to-spirv", "mlir::ModuleOp"> {
  let summary = "converts every kernel to a SPIR-V module with one entry point";
  let description = [{
      func @norm(%step: i64, ...)   ->   spirv.module @norm PhysicalStorageBuffer64 GLSL450 { spirv.func @norm() ... }

    The only push constant is the address of the arguments.
  }];
  let dependentDialects = ["mlir::spirv::SPIRVDialect", "mlir::arith::ArithDialect"];
}
