// SPDX-License-Identifier: Apache-2.0
// Writes a compiled model to one file: launcher stub, manifest, model info, code, tokenizer, labels, weights.
#pragma once

#include "compiler/artifact/OutputFile.h"
#include "compiler/artifact/Sections.h"

#include <functional>

namespace talc {

struct ArtifactParts {
  mlir::ModuleOp module;           // its weights, memory plan and kernels go into the file
  std::vector<CodeSection> code;   // the best first
  std::vector<uint8_t> tokenizer;  // a Tokenizer section; empty: none
  std::string stub;                // path of the launcher stub: a program, a library or an object
  std::string openName;            // the function that opens the model; empty for a program
  bool executable;                 // whether the file can be run, not only linked
  // Is told how many bytes of the weights are written; may be empty.
  std::function<void(uint64_t done, uint64_t total)> onProgress = {};
};

// For the layout see runtime/artifact/ArtifactFormat.h. On failure no file is left at or beside `path`.
llvm::Error writeArtifact(const ArtifactParts &parts, const std::string &path);

// The name of the function that opens the model in DIR/libNAME.so or DIR/NAME.o.
std::string openFunctionName(const std::string &path);

// Writes the C header that belongs to such a file: DIR/NAME.h, which needs no other header of talc. It is complete but
// for commit().
llvm::Expected<std::unique_ptr<OutputFile>> writeLibraryHeader(mlir::ModuleOp module, const std::string &path);

}  // namespace talc
