// SPDX-License-Identifier: Apache-2.0
// Facts that a module's attributes state about the model, for the page of `talc compile --inspect`.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace talc::tools {

// Sizes that plan-memory decided.
struct MemoryFacts {
  int64_t weightBytes = 0, kvBytesPerToken = 0, arenaBytesPerToken = 0;
};

// Results of --measure.
struct MeasuredFacts {
  std::string text;  // the name of the file
  int64_t predictions = 0;
  std::optional<double> perplexity;
  // If the model was compared with one that is not quantized.
  std::optional<double> divergence;
  double maxDivergence = 0, sameTop = 0;
  std::vector<std::pair<double, double>> layerErrors;  // of each layer: the mean and the maximum
};

struct ModelFacts {
  std::string name, chosenFormats;
  int64_t maxSequence = 0;  // 0: not limited
  int64_t parameters = 0;   // numbers that the model was trained for
  std::optional<MemoryFacts> memory;
  std::optional<MeasuredFacts> measured;
};

// Replaces the facts that the module states; the others stay as earlier passes left them. Parameters are not changed.
void updateFacts(mlir::ModuleOp module, ModelFacts &facts);

// The numbers in the weights of an imported program.
int64_t countParameters(mlir::ModuleOp module);

}  // namespace talc::tools
