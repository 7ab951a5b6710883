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
  int64_t maxSequence = 0;             // tokens that a sequence may have; 0: as many as the model was made for
  std::optional<uint64_t> randomSeed;  // random weights, so that none need be stored
  int64_t sinks = 0;                   // first tokens that stay beside windows; see GraphBuilder::keepFirst
};

struct Frontend {
  const char *reads;  // in messages: "a model directory"

  // Whether a model is of this kind, by a look at its name or first bytes. No two frontends recognize the same.
  bool (*recognizes)(const std::string &model);
  // The model as a module of the talc dialect. Null if there were errors, which are in `diagnostics`; warnings are in
  // any case.
  mlir::OwningOpRef<mlir::ModuleOp> (*import)(const std::string &model, const ImportOptions &options,
                                              mlir::MLIRContext &context, Diagnostics &diagnostics);
  // The tokenizer as a section of the artifact (runtime/tokenizer/TokenizerFormat.h), which is empty if the model has
  // none. Nothing if it is wrong, and `error` is a line.
  std::optional<std::vector<uint8_t>> (*compileTokenizer)(const std::string &model, std::string &error);
  // Whether a file is one that the model consists of, and must not be written to.
  bool (*owns)(const std::string &model, const std::string &file);
};

llvm::ArrayRef<Frontend> frontends();

// The frontend that reads a model; null: none does.
const Frontend *findFrontend(const std::string &model);

// What they read: "a model directory, a ... file".
std::string readableModels();

}  // namespace talc
