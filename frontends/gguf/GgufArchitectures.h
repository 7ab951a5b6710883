// SPDX-License-Identifier: Apache-2.0
// What general.architecture means: the family, what its tensors are called in GGUF, and how their rows lie.
#pragma once

#include "frontends/WeightSource.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <string_view>

namespace talc {

class GgufModel;

// Names without ".weight" and ".bias"; # stands for the number of a layer, and * for that of an expert, whose matrix is
// a part of one tensor.
struct GgufName {
  std::string_view family, file;
  StoredOrder::Kind order = StoredOrder::Kind::AsIs;
};

struct GgufArchitecture {
  std::string_view name;       // of general.architecture, and of its keys
  std::string_view modelType;  // the family in talc
  std::string_view head;       // the class in transformers that computes the same; empty: the family's first
  llvm::ArrayRef<GgufName> names;
  llvm::ArrayRef<GgufName> own = {};  // those of these that are called otherwise
  std::string_view answers = {};      // JSON: keys of config.json that are the same in all models
  int64_t widerFrom = 0;              // layers of the models whose scores are scaled by hidden_size / heads; 0: none
  bool mixed = false;                 // of several of a name, the one whose models have experts
  std::string_view classifier = {};   // the class instead of `head` where a tensor makes classes; empty: none
  std::string_view scaling = {};      // JSON: of scaled rotary positions what is the same in all models
};

llvm::ArrayRef<GgufArchitecture> ggufArchitectureTable();
// Null if talc knows none of this name. `mixed`: the model has experts.
const GgufArchitecture *ggufArchitecture(std::string_view name, bool mixed);
// All names, with commas.
std::string ggufArchitectures();

}  // namespace talc
