// SPDX-License-Identifier: Apache-2.0
// Remarks of passes for --remarks and --inspect: what a pass did, and what it did not do and why.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace talc {

// The remarks of one pass. Texts are built only if remarks are enabled.
class PassRemarks {
public:
  using Text = llvm::function_ref<std::string()>;

  // The category of a remark is the stage, its name the pass's name on the command line.
  constexpr PassRemarks(llvm::StringLiteral stage, llvm::StringLiteral pass) : stage(stage), pass(pass) {}

  // Remarks are on the function that `op` is or that contains it, or on the module.
  void did(mlir::Operation *op, Text text) const;
  // The pass did not transform `op`, since that is not possible or not worthwhile.
  void declined(mlir::Operation *op, Text text) const;

private:
  llvm::StringLiteral stage, pass;
};

// The name of the weight or KV cache that a value is. A weight has its name in the model's files; an argument of a
// block or kernel combines the names of all calls, with * where they differ, such as
// transformer.h.*.attn.c_attn.weight. Empty if it is neither, or if the names have nothing in common.
std::string storedName(mlir::Value value);

}  // namespace talc
