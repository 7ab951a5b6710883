// SPDX-License-Identifier: Apache-2.0
// What rounding matrices changes in predictions: a model reads a text, and once more rounded.
#pragma once

#include "compiler/TemporaryDirectory.h"
#include "compiler/passes/optimize/FormatUnits.h"
#include "tools/talc/CompileOptions.h"
#include "tools/talc/ModelInput.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace talc::tools {

struct Rounding {
  const FormatUnit *unit;
  FormatRef format;
};

// As long as input and options are there. Reads options.calibrate in windows, of a large model fewer.
class Divergence {
public:
  static llvm::Expected<std::unique_ptr<Divergence>> make(const ModelInput &input, const CompileOptions &options);

  // From the model's predictions as it is to those of one with these matrices rounded, by importance where they
  // have that: Kullback and Leibler's, the mean.
  llvm::Expected<double> of(llvm::ArrayRef<Rounding> roundings) const;

private:
  Divergence(const ModelInput &input, const CompileOptions &options, std::unique_ptr<TemporaryDirectory> directory);
  llvm::Error compile(const std::string &path) const;
  int32_t windows() const;

  const ModelInput &input;
  const CompileOptions &options;
  std::unique_ptr<TemporaryDirectory> directory;
  const std::string reference, rounded;
};

// Of all weights of files.
int64_t storedValues(const ModelInput &input);

// Notes at matrices how far predictions diverge once their unit alone is rounded to probeFormat (divergence).
// Squared errors of products do not say that: the same error in the table of embeddings, of which everything else is
// made, changes predictions many times as much as in the last layer.
llvm::Error noteDivergences(const ModelInput &input, const CompileOptions &options, const Divergence &divergence);

}  // namespace talc::tools
