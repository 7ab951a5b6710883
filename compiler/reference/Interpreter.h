// SPDX-License-Identifier: Apache-2.0
// The float64 interpreter of the talc dialect: the reference for every other stage.
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
#include <optional>
#include <string>
#include <vector>

namespace talc::reference {

// The functions with the attribute `talc.entry`, each (ids, sequences) -> activations...
struct Entries {
  mlir::func::FuncOp entry;   // for any number of tokens
  mlir::func::FuncOp decode;  // for exactly one token; null before the entries are split
  mlir::func::FuncOp encode;  // for sources, without results; null if the model has no encoder

  // Fails (Program) without an entry that has results, and with one that cannot be called.
  static llvm::Expected<Entries> find(mlir::ModuleOp module);
};

// Runs the functions with the attribute `talc.entry`, (ids, sequences) -> results, of a verified module; after
// split-entries, the one for the step's number of tokens. It follows the definitions in dialects/talc op by op, in
// double precision. Only weights have the precision of their type, and so have activations with
// ActivationPrecision::asWeights.
class Interpreter {
public:
  // The tokens of one sequence in a step. Its KV cache and its position stay in its slot until `release`.
  struct Sequence {
    int slot = 0;
    std::vector<int32_t> ids;
    std::vector<int32_t> types;     // of every token; empty: all 0
    int64_t prefix = 0;             // the first tokens, which see each other; all are in its first step
    std::optional<int> sourceSlot;  // the slot of its source; default: its own slot
    std::vector<std::vector<int64_t>> outputTokens;  // for each result indices in `ids`, ascending; default: the last
    std::vector<int32_t> labels;                     // to train: of the output tokens, -1 for none
  };

  // The module must outlive the interpreter. Fails (Program) if it has no entry.
  static llvm::Expected<Interpreter> create(mlir::ModuleOp module,
                                            ActivationPrecision precision = ActivationPrecision::full);

  // Runs one step over sequences of different slots and returns each result of the entry: [output tokens, width]. After
  // a failure (WeightFile, WeightRecipe; Usage: ids, types, lengths, sources; Program) the slots of the step must be
  // released.
  llvm::Expected<std::vector<Matrix>> step(llvm::ArrayRef<Sequence> sequences);

  // Runs the encoder of an encoder-decoder over whole sources, which stay in their slots until `release` or the next
  // source. Fails as `step` does; Usage if the model has no such encoder.
  llvm::Error encode(llvm::ArrayRef<Sequence> sources);

  // After `differentiate`, steps yield losses and add gradients here, by the names of weights.
  std::map<std::string, GradientSum> gradients;

  // A weight, to be changed in place. Errors: WeightFile, WeightRecipe.
  llvm::Expected<Weight *> editWeight(llvm::StringRef name) { return weights.edit(name); }

  // The number of results that a step yields.
  size_t results() { return model.entry.getNumResults(); }
  // The number of tokens that a slot has seen, without its source.
  int64_t position(int slot) const;
  // Forgets a slot and the source in it.
  void release(int slot);

private:
  Interpreter(mlir::ModuleOp module, Entries model, ActivationPrecision precision);
  llvm::Expected<std::vector<Matrix>> stepBySegments(llvm::ArrayRef<Sequence> sequences);
  // Runs a step whose sequences stay in their segments.
  llvm::Expected<std::vector<Matrix>> stepInSegments(llvm::ArrayRef<Sequence> sequences);
  llvm::Expected<StepSequences> layOut(llvm::ArrayRef<Sequence> sequences, bool sources);
  llvm::Error addRows(const Sequence &sequence, bool isSource, StepSequences &step);
  llvm::Expected<std::vector<MatrixPtr>> evaluate(mlir::func::FuncOp entry, llvm::ArrayRef<Sequence> sequences,
                                                  const StepSequences &step);
  llvm::Error checkLength(const SequenceTokens &tokens, bool isSource);

  mlir::ModuleOp module;
  Entries model;
  ActivationPrecision precision;
  int64_t segment = 0;  // tokens of a segment (talc.segmented); 0: no segments
  Weights weights;
  std::map<std::string, State> states;
  std::map<int, int64_t> lengths, sourceLengths;
};

}  // namespace talc::reference
