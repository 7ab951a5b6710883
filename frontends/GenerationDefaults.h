// SPDX-License-Identifier: Apache-2.0
// How a model's authors want tokens to be generated, as a frontend reads it from the model's files.
#pragma once

#include "runtime/artifact/GenerationSettings.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <set>
#include <string>
#include <vector>

namespace talc {

struct ReadForm {
  using Number = double;
  using Integer = int64_t;
  template <int32_t most> using Tokens = std::vector<int64_t>;
};

// A frontend begins with artifact::neutralSettings<ReadForm>().
using GenerationDefaults = artifact::GenerationSettings<ReadForm>;

// Drops tokens that a model with so many logits never generates, and the end of a list that is longer than an artifact
// holds; of such a list the key goes to `ignored`.
void fitToModel(GenerationDefaults &values, int64_t vocabulary, std::set<std::string> &ignored);

// The value of talc.generation.
mlir::DictionaryAttr generationDictionary(const GenerationDefaults &values, mlir::MLIRContext &context);

}  // namespace talc
