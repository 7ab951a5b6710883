// SPDX-License-Identifier: Apache-2.0
// What a pass says of what it did, and of what it left alone and why: remarks for --remarks and --inspect.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace talc {

// Of one pass. Texts are made only if somebody listens.
class PassRemarks {
public:
  using Text = llvm::function_ref<std::string()>;

  // The category of a remark is the stage, its name the pass's name on the command line.
  constexpr PassRemarks(llvm::StringLiteral stage, llvm::StringLiteral pass) : stage(stage), pass(pass) {}

  // About the function that `op` is or stands in, or the module.
  void did(mlir::Operation *op, Text text) const;
  // What the pass is for was not possible, or not worth it.
  void declined(mlir::Operation *op, Text text) const;

private:
  llvm::StringLiteral stage, pass;
};

// The weight or state behind a value. A weight is called as in the model's files, and an argument of a block or kernel
// by the names that all calls give it, with * for what differs, such as transformer.h.*.attn.c_attn.weight. Empty: it
// is neither, or the names have nothing in common.
std::string storedName(mlir::Value value);

}  // namespace talc
