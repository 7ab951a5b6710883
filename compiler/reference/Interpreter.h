// SPDX-License-Identifier: Apache-2.0
// The float64 interpreter of the talc dialect: what every other stage is compared with.
#pragma once

#include "compiler/reference/Sequences.h"
#include "compiler/reference/Tensors.h"
#include "compiler/reference/Weights.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace talc::reference {

// Runs the function with the attribute `talc.entry`, (ids, sequences) -> result, of a verified module; once the phases
// are split, the one for the step's number of tokens. It follows the definitions in dialects/talc op by op, in double
// precision; only weights have the precision of their type.
class Interpreter {
public:
  // What one sequence brings to a step. Its state and its position stay in its slot until `release`.
  struct Sequence {
    int slot = 0;
    std::vector<int32_t> ids;
    bool allOutputs = false;  // the result of every token is wanted, not only of the last
  };

  // The module must outlive the interpreter. Fails (Program) if it has no entry.
  static llvm::Expected<Interpreter> create(mlir::ModuleOp module);

  // Runs one step over sequences of different slots and returns the entry's result: [wanted rows, vocabulary] for a
  // model that ends in `talc.select`. After a failure (WeightFile, WeightRecipe; Usage: ids or lengths; Program) the
  // slots that the step named must be released.
  llvm::Expected<Matrix> step(llvm::ArrayRef<Sequence> sequences);

  // The number of tokens that a slot has seen.
  int64_t position(int slot) const;
  // Forgets a slot.
  void release(int slot);

private:
  Interpreter(mlir::ModuleOp module, mlir::func::FuncOp entry, mlir::func::FuncOp decode)
      : module(module), entry(entry), decode(decode), weights(module) {}
  llvm::Expected<StepSequences> layOut(llvm::ArrayRef<Sequence> sequences);
  llvm::Error checkLength(int64_t length);

  mlir::ModuleOp module;
  mlir::func::FuncOp entry, decode;  // for any number of tokens; for exactly one, null before the phases are split
  Weights weights;
  std::map<std::string, State> states;
  std::map<int, int64_t> lengths;
};

}  // namespace talc::reference
