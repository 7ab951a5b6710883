// SPDX-License-Identifier: Apache-2.0
// Puts a compiled model into one file: stub, manifest, facts, code, tokenizer, labels, weights.
#pragma once

#include "compiler/artifact/CodeSection.h"
#include "compiler/artifact/OutputFile.h"

namespace talc {

struct ArtifactParts {
  mlir::ModuleOp module;           // whose weights, plan and kernels go into the file
  std::vector<CodeSection> code;   // the best first
  std::vector<uint8_t> tokenizer;  // a Tokenizer section; empty: none
  std::string stub;             // path of the program, library or object that carries the model
  std::string openName;            // of the function that opens the model; empty: a program has none
  bool executable;                 // whether the file is for running, and not for linking alone
};

// Layout: runtime/artifact/ArtifactFormat.h. On failure nothing is left at or beside `path`.
llvm::Error writeArtifact(const ArtifactParts &parts, const std::string &path);

// The name of the function that opens the model in DIR/libNAME.so or DIR/NAME.o.
std::string openFunctionName(const std::string &path);

// Writes the C header that belongs to such a file: DIR/NAME.h, which needs no other header of talc. It is complete but
// for commit().
llvm::Expected<std::unique_ptr<OutputFile>> writeLibraryHeader(mlir::ModuleOp module, const std::string &path);

}  // namespace talc
