// SPDX-License-Identifier: Apache-2.0
// Measures how much quantization changes a model's predictions: the exact and the quantized model read a text.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/TemporaryDirectory.h"
#include "compiler/passes/optimize/FormatUnits.h"

#include <memory>

namespace talc {

struct QuantizedUnit {
  const FormatUnit *unit;
  FormatRef format;
};

// Module and request have to live as long. The evaluator reads the calibration's text in windows, fewer of them for a
// large model.
class Divergence {
public:
  static llvm::Expected<std::unique_ptr<Divergence>> create(mlir::ModuleOp module, const CompileRequest &request);

  // The mean KL divergence from the predictions of the model to those of the model with these units quantized, by
  // importance if their matrices have it.
  llvm::Expected<double> measure(llvm::ArrayRef<QuantizedUnit> units) const;

  // The number of values in all weights of files.
  int64_t storedValues() const;

private:
  Divergence(mlir::ModuleOp module, const CompileRequest &request, std::unique_ptr<TemporaryDirectory> directory);
  llvm::Error compile(const std::string &library) const;
  int32_t windows() const;

  mlir::ModuleOp module;
  const CompileRequest &request;
  std::unique_ptr<TemporaryDirectory> directory;
  const std::string reference, quantized;  // libraries
};

// Sets divergence on matrices: the divergence if their unit alone is quantized to probeFormat. Squared errors of
// products do not tell that: an error in the embedding table, which all layers depend on, changes predictions many
// times as much as the same error in the last layer.
llvm::Error annotateDivergence(mlir::ModuleOp module, const FormatChoice &weights, const Divergence &divergence);

// Sets `format` on the matrices' weights, so that they keep to the size in `weights`: to what assign-formats would
// choose or to one format for all, whichever changes predictions less, and in small models to better formats that a
// local search finds. (FormatSearch.cpp)
llvm::Error searchFormats(mlir::ModuleOp module, const FormatChoice &weights, const Divergence &divergence);

}  // namespace talc
