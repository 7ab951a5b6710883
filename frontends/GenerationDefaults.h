// SPDX-License-Identifier: Apache-2.0
// The generation settings that a model's authors chose, as a frontend reads them from the model's files.
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
  template <int32_t maxCount> using Tokens = std::vector<int64_t>;
};

// A frontend begins with artifact::neutralSettings<ReadForm>().
struct GenerationDefaults : artifact::GenerationSettings<ReadForm> {
  std::vector<std::string> stops;  // texts that end a text
};

// Drops token ids beyond the vocabulary, and the end of lists that are too long for an artifact; adds the keys of such
// lists to `ignored`.
void fitToModel(GenerationDefaults &values, int64_t vocabulary, std::set<std::string> &ignored);

// The value of talc.generation.
mlir::DictionaryAttr generationDictionary(const GenerationDefaults &values, mlir::MLIRContext &context);

}  // namespace talc
