// SPDX-License-Identifier: Apache-2.0
// The inputs of calibration, which finds out how much the columns of weights matter: a text or an importance matrix.
#pragma once

#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace talc {

// Runs models for calibration. The compiler does not link the runtime, so that the caller brings it: see
// tools/talc/CalibrationEvaluator.cpp. `library` is a shared library that the compiler wrote, `text` a file.
class ModelEvaluator {
public:
  virtual ~ModelEvaluator() = default;

  // The mean square of each feature of the model's second result over all tokens of a text.
  virtual llvm::Expected<std::vector<double>> meanSquares(const std::string &library, const std::string &text) = 0;
  // The mean KL divergence of the library's predictions from those of `reference`, over at most `windows` windows.
  virtual llvm::Expected<double> divergence(const std::string &library, const std::string &reference,
                                            const std::string &text, int32_t windows) = 0;
};

struct CalibrationOptions {
  std::string file;  // a text or an importance matrix; empty: no calibration
  // The values of an importance matrix for the columns of a matrix that layers multiply by; empty if it lists none.
  // `weight`: the symbol of what the matrix is made of, or of its transpose. Null if `file` is a text.
  std::function<std::vector<float>(const std::string &weight, int64_t columns, bool isTransposed)> importance;
  std::shared_ptr<ModelEvaluator> evaluator;  // reads the text
  std::string cacheDirectory;                 // for the code of the models that read the text; empty: none
};

}  // namespace talc
