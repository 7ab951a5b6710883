// SPDX-License-Identifier: Apache-2.0
// The module attributes of a model and its open files, and queries of frontends about a graph.
#pragma once

#include "frontends/GenerationDefaults.h"

#include "mlir/IR/BuiltinOps.h"

namespace talc {

class Diagnostics;
class ModelDirectory;

// The number of token ids: the number of logits, or of rows of the embedding table.
int64_t vocabularySize(mlir::ModuleOp module);
// Whether a result of this kind (logits, hidden, ...) is among the model's.
bool hasOutput(mlir::ModuleOp module, llvm::StringRef kind);
// Features of that result; 0 if there is none.
int64_t outputWidth(mlir::ModuleOp module, llvm::StringRef kind);
// Whether the logits are predictions of masked tokens, as in a model without KV cache.
bool predictsMaskedTokens(mlir::ModuleOp module);
// Whether tokens attend to those before them only, somewhere.
bool hasCausalAttention(mlir::ModuleOp module);

struct ModelAttributes {
  std::string directory;  // of the files of weights
  std::string name;
  std::string family;  // Family::modelType
  GenerationDefaults generation;
  mlir::Attribute pooling = {};  // talc.pooling: of hidden states, if there are any; null: there is none
};

void setModelAttributes(mlir::ModuleOp module, const ModelAttributes &attributes);

// The compiler maps the files that were opened here, whatever their paths name later. Reports an error if the system
// allows no more open files.
void keepWeightFiles(const ModelDirectory &directory, mlir::MLIRContext &context, Diagnostics &diagnostics);

}  // namespace talc
