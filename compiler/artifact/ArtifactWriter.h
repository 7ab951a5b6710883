// SPDX-License-Identifier: Apache-2.0
// Puts a compiled model into one file: carrier, manifest, facts, code, tokenizer, labels, weights.
#pragma once

#include "compiler/targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace talc {

struct CodeVariant {
  artifact::CpuLevel level;
  std::vector<uint8_t> sharedObject;
};

struct ArtifactParts {
  mlir::ModuleOp module;  // after stage codegen
  targets::Target target;
  std::vector<CodeVariant> code;
  std::vector<uint8_t> tokenizer;   // a Tokenizer section; empty: none
  std::string carrier;              // path of the program or library that carries the model
  llvm::StringMap<int64_t> spills;  // registers that a kernel spills, by its name; for the manifest
};

// Layout: runtime/artifact/ArtifactFormat.h. On failure nothing is left at or beside `path`.
llvm::Error writeArtifact(const ArtifactParts &parts, const std::string &path);

}  // namespace talc
