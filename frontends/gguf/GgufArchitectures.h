// SPDX-License-Identifier: Apache-2.0
// The architectures of GGUF: the family of each, the names of its tensors, and the order of their rows.
#pragma once

#include "frontends/WeightSource.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <string_view>
#include <vector>

namespace talc {

class GgufModel;

// Names without ".weight" and ".bias"; # stands for the index of a layer, and * for that of an expert, whose matrix is
// a part of one tensor.
struct GgufName {
  std::string_view family, file;
  StoredOrder::Kind order = StoredOrder::Kind::AsIs;
};

// A key of the metadata after "<architecture>.", and its minimum.
struct GgufMark {
  std::string_view key = {};
  int64_t minimum = 0;
};

struct GgufArchitecture {
  std::string_view name;       // of general.architecture, and of its keys
  std::string_view modelType;  // the family in talc
  std::string_view head;       // the class in transformers that computes the same; empty: the family's first
  llvm::ArrayRef<GgufName> names;
  llvm::ArrayRef<GgufName> own = {};  // those of these that are called otherwise
  std::string_view answers = {};      // JSON: keys of config.json that are the same in all models
  int64_t widerFrom = 0;              // layers of the models whose scores are scaled by hidden_size / heads; 0: none
  GgufMark mark = {};                 // of several of a name, what models of this one have; empty: of the others
  std::string_view classifier = {};   // the class instead of `head` where a tensor makes classes; empty: none
  std::string_view scaling = {};      // JSON: of scaled rotary positions what is the same in all models
  std::string_view biased = "attn_output";  // the tensor of layers that has a bias where attention_bias is true
};

llvm::ArrayRef<GgufArchitecture> ggufArchitectureTable();
// Returns null if talc has no architecture of this name.
const GgufArchitecture *ggufArchitecture(std::string_view name, llvm::function_ref<bool(const GgufMark &)> has);
// Lists all names, with commas.
std::string ggufArchitectures();

// ---- The names of single tensors (GgufNames.cpp)

struct GgufTensorName {
  std::string name;  // in GGUF; empty: it has no such tensor
  StoredOrder::Kind order = StoredOrder::Kind::AsIs;
  int64_t expert = -1;  // whose part of the tensor it is; -1: all of it
};

GgufTensorName ggufTensorName(const GgufArchitecture &architecture, const std::string &weight);
// The names in all architectures, without duplicates of the same order.
std::vector<GgufTensorName> ggufTensorNames(const std::string &weight);

}  // namespace talc
