// SPDX-License-Identifier: Apache-2.0
// The table of frontends. To add one: a folder beside huggingface, and a row in Frontends.cpp.
#pragma once

#include "frontends/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace talc {

struct ImportOptions {
  int64_t maxSequence = 0;             // tokens that a sequence may have; 0: as many as the model was trained for
  std::optional<uint64_t> randomSeed;  // random weights, so that none need be stored
  int64_t sinks = 0;                   // sink tokens, which stay beside windows; see GraphBuilder::useSinkTokens
  bool allowsUnused = false;           // files may hold tensors and keys that talc has no use for
};

struct Frontend {
  const char *reads;  // the input, for messages: "a model directory"

  // Whether a model is of this kind, by its name or its first bytes. No two frontends recognize the same model.
  bool (*recognizes)(const std::string &model);
  // Imports a model as a module of the talc dialect. Returns null after errors. `diagnostics` gets errors and warnings.
  mlir::OwningOpRef<mlir::ModuleOp> (*import)(const std::string &model, const ImportOptions &options,
                                              mlir::MLIRContext &context, Diagnostics &diagnostics);
  // Compiles the tokenizer to a section of the artifact (runtime/tokenizer/TokenizerFormat.h), which is empty if the
  // model has none. Returns nothing if the tokenizer is invalid; then `error` is one line. `warnings` may be null.
  std::optional<std::vector<uint8_t>> (*compileTokenizer)(const std::string &model, std::string &error,
                                                          std::vector<std::string> *warnings);
  // Whether a file belongs to the model, and must not be overwritten.
  bool (*owns)(const std::string &model, const std::string &file);
};

llvm::ArrayRef<Frontend> frontends();

// The frontend that reads a model; null if none does.
const Frontend *findFrontend(const std::string &model);

// The inputs of all frontends: "a model directory, a ... file".
std::string readableModels();

}  // namespace talc
