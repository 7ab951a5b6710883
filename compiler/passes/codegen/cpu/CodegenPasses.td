// SPDX-License-Identifier: Apache-2.0
// Stage codegen of processors; compiler/passes/Passes.td includes it.

def ConvertDots : Pass<"convert-dots", "mlir::ModuleOp"> {
  let summary = "dot products of bytes, tables of them and powers of two become a processor's instructions";
  let description = [{
      kernel.dot %levels, %x plus %sums   ->   vpdpbusd                              `vnni`
                                          ->   vpmaddubsw, vpmaddwd, vpaddd          `avx2`, levels of seven bits: nothing saturates
                                          ->   vpmaddubsw, vpaddw, one vpmaddwd      `avx2`, of several that add to each other: while words hold their sums
                                                                                     (of four and more, where the sum is used)
                                          ->   vpabsb, vpsignb, then as above        `avx2`, signed levels
                                          ->   vpmaddwd of even and of odd bytes     `avx2`, levels of eight bits
                                          ->   sdot                                  `dotprod`
                                          ->   smull, smull2, addp, sadalp           `neon`

      kernel.table_lookup %places in %table       ->   vpshufb                               `vnni`, `avx2`
                                             ->   tbl                                   `dotprod`, `neon`

      kernel.ldexp %number by %power   ->   llvm.ldexp, which is vscalefps with AVX-512

    All make the same sums. On x86-64 vectors are of 8 sums, or of 16 with levels that have no sign, on 64-bit ARM of 4 with
    signed levels, or such of seven bits.
    Upstream's x86vector and arm_neon dialects have no dot product of unsigned bytes by signed ones, and no sums of pairs.
  }];
  let options = [Option<"instructions", "instructions", "std::string", "\"avx2\"", "what the processor has for them">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

def ConvertDotPairs : Pass<"convert-dot-pairs", "mlir::ModuleOp"> {
  let summary = "dot products of pairs of bf16 become a processor's instructions";
  let description = [{
      kernel.dot_pairs %weights, %x plus %sums   ->   vdpbf16ps                              if `bf16`
                                                 ->   two vector.fma, of odd numbers first   else

    Both make the same bits of all numbers from 2^-126 on. Upstream's x86vector dialect has the first one.
  }];
  let options = [Option<"bf16", "bf16", "bool", "false", "whether the processor has vdpbf16ps">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::vector::VectorDialect",
                           "mlir::x86vector::X86VectorDialect"];
}

def ConvertStepToLLVM : Pass<"convert-step-to-llvm", "mlir::ModuleOp"> {
  let summary = "what kernels read of the running step becomes loads from struct StepContext";
  let description = [{
    `!kernel.step` becomes a pointer to runtime/device/cpu/StepContext.h, `!talc.kv_cache` the state's offset in a slot; entry
    functions get the names that the runtime looks up.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}
