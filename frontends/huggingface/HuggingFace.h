// SPDX-License-Identifier: Apache-2.0
// Imports a Hugging Face model directory: config.json, generation_config.json and safetensors files.
#pragma once

#include "frontends/Frontends.h"
#include "frontends/GenerationDefaults.h"

#include <nlohmann/json_fwd.hpp>

namespace talc {

class ModelConfig;
class ModelDirectory;
struct FamilyTokens;

// Any directory.
bool isHuggingFace(const std::string &model);

// Random weights need no more than config.json.
mlir::OwningOpRef<mlir::ModuleOp> importHuggingFace(const std::string &model, const ImportOptions &options,
                                                    mlir::MLIRContext &context, Diagnostics &diagnostics);

// The section of the tokenizer; see Frontend.
std::optional<std::vector<uint8_t>> compileHuggingFaceTokenizer(const std::string &model, std::string &error,
                                                                std::vector<std::string> *warnings);

// Whether a file lies in the directory and is of a kind that models consist of.
bool isHuggingFaceFile(const std::string &model, const std::string &file);

//===--- files beside config.json -------------------------------------------------------------------------------===//

// The generation settings of generation_config.json, over those of config.json, over the defaults of the model's class.
// `modelConfig` is config.json; `tokens` are those of the model's class: with a start token, the model is an
// encoder-decoder. Token ids at or beyond `vocabulary` can never be generated and are dropped. Wrong values are
// reported; what talc cannot do is warned of. (GenerationConfig.cpp)
GenerationDefaults readGenerationConfig(const ModelDirectory &directory, const nlohmann::json &modelConfig,
                                        const FamilyTokens &tokens, int64_t vocabulary, Diagnostics &diagnostics);

// Whether a key belongs to those settings, or to those that talc warns of. (GenerationConfig.cpp)
bool isGenerationKey(const std::string &key);

// Reports every key of config.json that the family of `config` has not read, after it has read all that it knows. Keys
// without a meaning for a compiled model pass, as do values that turn a key off: null, false and what is empty.
// (UnreadKeys.cpp)
void refuseUnreadKeys(const ModelConfig &config, const nlohmann::json &object);

// Whether config.json is of a model of texts and pictures; it then becomes that of the part for texts.
// (ComposedModels.cpp)
bool takeTexts(nlohmann::json &object, Diagnostics &diagnostics);

// The id of the mask token that the tokenizer's files name; -1 if they name none. Damaged files are left to the reader
// of tokenizers. (MaskToken.cpp)
int64_t findMaskToken(const ModelDirectory &directory);

}  // namespace talc
