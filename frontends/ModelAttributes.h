// SPDX-License-Identifier: Apache-2.0
// What a module says about its model beside the graph, and what frontends ask a graph for.
#pragma once

#include "frontends/GenerationDefaults.h"

#include "mlir/IR/BuiltinOps.h"

namespace talc {

// The number of token ids: one for every logit, or row of the embedding table.
int64_t vocabularySize(mlir::ModuleOp module);
// Whether a result of this kind (logits, hidden, ...) is among the model's.
bool hasOutput(mlir::ModuleOp module, llvm::StringRef kind);
// Whether the logits are guesses of masked tokens: a model without state evaluates whole texts.
bool guessesTokens(mlir::ModuleOp module);

struct ModelAttributes {
  std::string directory;  // where files of weights lie
  std::string name;
  GenerationDefaults generation;
  std::string pooling;  // of hidden states: none, cls, mean; of no meaning without them
};

void setModelAttributes(mlir::ModuleOp module, const ModelAttributes &attributes);

}  // namespace talc
