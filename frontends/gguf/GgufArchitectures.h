// SPDX-License-Identifier: Apache-2.0
// What general.architecture means: the family, what its tensors are called in GGUF, and how their rows lie.
#pragma once

#include "frontends/WeightSource.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <string_view>

namespace talc {

class GgufModel;

// Names without ".weight" and ".bias"; # stands for the number of a layer.
struct GgufName {
  std::string_view family, file;
  StoredOrder::Kind order = StoredOrder::Kind::AsIs;
};

struct GgufArchitecture {
  std::string_view name;       // of general.architecture, and of its keys
  std::string_view modelType;  // the family in talc
  std::string_view head;       // the class in transformers that computes the same; empty: the family's first
  llvm::ArrayRef<GgufName> names;
};

// Null if talc knows none of this name.
const GgufArchitecture *ggufArchitecture(std::string_view name);
// All names, with commas.
std::string ggufArchitectures();

}  // namespace talc
