// SPDX-License-Identifier: Apache-2.0
// The table of model families. To add one: a file beside this one, a declaration here, a row in Families.cpp.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string_view>

namespace talc {

class GraphBuilder;
class ModelConfig;

// Default token ids; -1: none.
struct FamilyTokens {
  int64_t begin = -1, end = -1;
  int64_t start = -1;      // begins the text of an encoder-decoder
  int64_t forcedEnd = -1;  // ends a text that is cut
};

// What docs/families.md says of a family.
struct FamilyNotes {
  std::string_view name;        // as people call it
  std::string_view heads;       // what talc computes
  std::string_view structure;   // positions, masks, norms, feed-forward
  std::string_view tokenizers;  // that its checkpoints come with
};

struct Family {
  std::string_view modelType;   // `model_type` in config.json
  std::string_view basePrefix;  // of tensor names; checkpoints may lack it
  void (*define)(GraphBuilder &graph, const ModelConfig &config);
  FamilyTokens tokens;
  FamilyNotes notes;
};

llvm::ArrayRef<Family> families();

void defineBert(GraphBuilder &graph, const ModelConfig &config);
void defineCamembert(GraphBuilder &graph, const ModelConfig &config);
void defineDistilBert(GraphBuilder &graph, const ModelConfig &config);
void defineGpt2(GraphBuilder &graph, const ModelConfig &config);
void defineLlama(GraphBuilder &graph, const ModelConfig &config);
void defineMarian(GraphBuilder &graph, const ModelConfig &config);
void defineMistral(GraphBuilder &graph, const ModelConfig &config);
void defineMt5(GraphBuilder &graph, const ModelConfig &config);
void defineQwen2(GraphBuilder &graph, const ModelConfig &config);
void defineQwen3(GraphBuilder &graph, const ModelConfig &config);
void defineRoberta(GraphBuilder &graph, const ModelConfig &config);
void defineT5(GraphBuilder &graph, const ModelConfig &config);
void defineXlmRoberta(GraphBuilder &graph, const ModelConfig &config);

}  // namespace talc
