// SPDX-License-Identifier: Apache-2.0
// Stage bufferize of processors; compiler/passes/Passes.td includes it.

def AssignGenerators : Pass<"assign-generators", "mlir::ModuleOp"> {
  let summary = "says which kernels a generator makes the code of, instead of the target's passes and LLVM";
  let description = [{
      func @contract_0 {kernel.piece = "contract"}   ->   {kernel.piece = "contract", kernel.generator = "halide"}

    A kernel that the generator cannot express stays as it is, with a remark.
  }];
  let options = [Option<"generator", "generator", "std::string", "\"halide\"", "its name: halide">];
}
