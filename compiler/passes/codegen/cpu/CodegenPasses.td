// SPDX-License-Identifier: Apache-2.0
// Stage codegen of CPUs; compiler/passes/Passes.td includes it.

def ConvertDots : Pass<"convert-dots", "mlir::ModuleOp"> {
  let summary = "converts dot products of bytes, table lookups and ldexp to instructions of the CPU";
  let description = [{
      kernel.dot %codes, %x plus %sums    ->   vpdpbusd                              `vnni`
                                          ->   vpmaddubsw, vpmaddwd, vpaddd          `avx2`, codes of seven bits: nothing saturates
                                          ->   vpmaddubsw, vpaddw, one vpmaddwd      `avx2`, several that add to each other, as long as i16 sums cannot
                                                                                     overflow (for four or more, where the sum is used)
                                          ->   vpabsb, vpsignb, then as above        `avx2`, signed codes
                                          ->   vpmaddwd of even and of odd bytes     `avx2`, codes of eight bits
                                          ->   sdot                                  `dotprod`
                                          ->   smull, smull2, addp, sadalp           `neon`

      kernel.table_lookup %indices in %table       ->   vpshufb                               `vnni`, `avx2`
                                             ->   tbl                                   `dotprod`, `neon`

      kernel.ldexp %x by %exponent   ->   llvm.ldexp, which is vscalefps with AVX-512

    All yield the same sums. On x86-64, vectors have 8 sums, or 16 with unsigned codes; on 64-bit ARM 4, with signed codes
    or codes of seven bits. The upstream x86vector and arm_neon dialects do not have dot products of unsigned by signed
    bytes, nor pairwise sums.
  }];
  let options = [Option<"instructions", "instructions", "std::string", "\"avx2\"", "the instructions that the CPU has for dot products">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

def ConvertDotPairs : Pass<"convert-dot-pairs", "mlir::ModuleOp"> {
  let summary = "converts dot products of pairs of bf16 to instructions of the CPU";
  let description = [{
      kernel.dot_pairs %weights, %x plus %sums   ->   vdpbf16ps                              if `bf16`
                                                 ->   two vector.fma, odd elements first     else

    Both yield the same bits for numbers from 2^-126 on. The upstream x86vector dialect has the first one.
  }];
  let options = [Option<"bf16", "bf16", "bool", "false", "whether the CPU has vdpbf16ps">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::vector::VectorDialect",
                           "mlir::x86vector::X86VectorDialect"];
}

def ConvertStepToLLVM : Pass<"convert-step-to-llvm", "mlir::ModuleOp"> {
  let summary = "converts reads of the running step to loads from struct StepContext";
  let description = [{
    `!kernel.step` becomes a pointer to runtime/device/cpu/StepContext.h, `!talc.kv_cache` the offset of the
    cache in a slot; entry functions get the names that the runtime looks up.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}
