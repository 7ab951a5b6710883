// SPDX-License-Identifier: Apache-2.0
// The sections of an artifact: the code for each target, and what describes the model, made from the attributes of its
// module.
#pragma once

#include "compiler/artifact/weights/WeightStream.h"
#include "compiler/targets/Target.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/GenerationSettings.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace talc {

struct CodeSection {
  const targets::Target &target;
  targets::LinkedCode linked;
  // For the manifest: the kernels that the code calls, as listed by mark-kernels (null if that did not run), and the
  // registers that each kernel spills, by its name.
  mlir::ArrayAttr kernels;
  llvm::StringMap<int64_t> spills;

  // The bytes of the section, in the format of runtime/artifact/ArtifactFormat.h.
  llvm::Expected<std::vector<uint8_t>> bytes() const;
};

// Copies a name into a zeroed array in a struct of ArtifactFormat.h.
llvm::Error writeName(llvm::StringRef name, llvm::MutableArrayRef<char> array);

// The manifest: JSON that tells people and tools what the artifact was made from. `codes`: of all targets, the best
// first.
std::string makeManifest(mlir::ModuleOp module, const artifact::ModelInfo &facts, llvm::ArrayRef<PlacedWeight> weights,
                         llvm::ArrayRef<CodeSection> codes);

// What the runtime must know about the model. Fails for properties of the model (generation settings, tokens) that do
// not fit in an artifact.
llvm::Expected<artifact::ModelInfo> makeModelInfo(mlir::ModuleOp module);

// The generation settings that the model's authors chose: talc.generation. Settings that the module does not mention
// are neutral. Fails for an unknown setting, or for a value that it cannot have.
llvm::Expected<artifact::StoredSettings> readGeneration(mlir::ModuleOp module, uint32_t vocabularySize);

// The names of the model's classes: talc.labels; empty without that attribute. Fails unless every class has one name,
// in UTF-8 and without NUL.
llvm::Expected<std::string> makeLabels(mlir::ModuleOp module, const artifact::ModelInfo &info);

// Texts that end a text, which stand in talc.generation as `stops`; readGeneration checks them. Empty without any.
std::string makeStopTexts(mlir::ModuleOp module);

// The section from which the runtime makes rotary tables (RotaryTables.h): those of the weights that begin at
// `firstTable` or later. Empty without any.
llvm::Expected<std::vector<uint8_t>> makeRotaryTablesSection(mlir::ModuleOp module,
                                                             llvm::ArrayRef<PlacedWeight> weights, int64_t firstTable);

// How hidden states become embeddings: talc.pooling; empty if that is a name alone. Reads the weights of its layers.
llvm::Expected<std::vector<uint8_t>> makeEmbeddingSection(mlir::ModuleOp module);

// How weights and checkpoints follow from trained parameters, and the small files of the checkpoint: of a trainer
// (runtime/training/TrainingFormat.h); empty for other models. Fails for a model that has weights which get no
// gradient.
llvm::Expected<std::vector<uint8_t>> makeTrainingSection(mlir::ModuleOp module, llvm::ArrayRef<PlacedWeight> placed);
llvm::Expected<std::vector<uint8_t>> makeFilesSection(mlir::ModuleOp module);

// The pooling in talc.pooling.
llvm::Expected<artifact::Pooling> readPooling(mlir::ModuleOp module);

// Where a slot keeps the keys and values of its tokens, so that the runtime can save and load them: the KV caches that
// plan-memory has placed; empty without any.
llvm::Expected<std::vector<artifact::KvRun>> makeKvCacheSection(mlir::ModuleOp module);

}  // namespace talc
