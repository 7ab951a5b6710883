// SPDX-License-Identifier: Apache-2.0
// The table of model families. To add one: a file beside this one, a declaration here, a row in Families.cpp.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string_view>

namespace talc {

class GraphBuilder;
class ModelConfig;

struct Family {
  std::string_view modelType;   // `model_type` in config.json
  std::string_view basePrefix;  // of tensor names; checkpoints may lack it
  void (*define)(GraphBuilder &graph, const ModelConfig &config);
  int64_t begin, end;  // default token ids; -1: none
};

llvm::ArrayRef<Family> families();

void defineGpt2(GraphBuilder &graph, const ModelConfig &config);
void defineLlama(GraphBuilder &graph, const ModelConfig &config);
void defineMistral(GraphBuilder &graph, const ModelConfig &config);
void defineQwen2(GraphBuilder &graph, const ModelConfig &config);
void defineQwen3(GraphBuilder &graph, const ModelConfig &config);

}  // namespace talc
