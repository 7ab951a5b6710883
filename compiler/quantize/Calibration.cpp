// SPDX-License-Identifier: Apache-2.0
// Importance is the mean square of what a column is multiplied with while the model reads a text.
#include "compiler/quantize/Calibration.h"

#include "compiler/Error.h"
#include "compiler/TemporaryDirectory.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/FormatUnits.h"
#include "compiler/quantize/Divergence.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace talc {

llvm::Error compileProbe(ModuleOp copy, const CompileRequest &request, const FormatChoice &weights,
                         const std::string &library) {
  auto targets = targets::parseTargets("native");
  if (!targets)
    return targets.takeError();
  CompileRequest probe;
  probe.targets = std::move(*targets);
  probe.weights = weights;
  probe.emit = EmitKind::Library;
  probe.output = library;
  probe.tokenizer = request.tokenizer;
  probe.programDirectory = request.programDirectory;
  probe.cacheDirectory = request.calibration.cacheDirectory;
  return compile(copy, probe);
}

// Runs a pass and drops its diagnostics. Returns whether it succeeded.
static bool runSilently(ModuleOp module, std::unique_ptr<Pass> pass) {
  ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) { return success(); });
  PassManager passes(module.getContext());
  passes.addPass(std::move(pass));
  return succeeded(passes.run(module));
}

static void setImportance(Operation *matrix, llvm::ArrayRef<float> importance) {
  matrix->setAttr(importanceAttr, DenseF32ArrayAttr::get(matrix->getContext(), importance));
}

// All columns count alike in matrices that no layer multiplies with, such as an embedding table.
static void setUniformImportance(ModuleOp module, const FormatChoice &weights) {
  for (const FormatUnit &unit : findFormatUnits(module, weights))
    for (Operation *matrix : unit.matrices)
      if (!matrix->hasAttr(importanceAttr)) {
        int64_t columns = cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getDimSize(1);
        setImportance(matrix, std::vector<float>(columns, 1));
      }
}

// `observed`: talc.observed of the model whose features have these mean squares.
static void setImportance(ModuleOp module, ArrayAttr observed, const std::vector<double> &meanSquares) {
  SymbolTable symbols(module);
  auto next = meanSquares.begin();
  for (auto input : observed.getAsRange<DictionaryAttr>()) {
    auto end = next + input.getAs<IntegerAttr>(featuresKey).getInt();
    std::vector<float> importance(next, end);
    for (auto name : input.getAs<ArrayAttr>(matricesKey).getAsRange<FlatSymbolRefAttr>())
      if (Operation *matrix = symbols.lookup(name.getValue()))
        setImportance(matrix, importance);
    next = end;
  }
}

// Measures the importance of columns by running a copy of the model.
static llvm::Error observeImportance(ModuleOp module, const CompileRequest &request) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return directory.takeError();
  std::string library = (*directory)->file("observed.so");
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!runSilently(*copy, createObserveFeatures()))
    return makeError(ErrorCode::Usage, "--calibrate: only models that continue texts or fill masks are calibrated");
  auto observed = (*copy)->getAttrOfType<ArrayAttr>(observedAttr);
  if (llvm::Error error = compileProbe(*copy, request, FormatChoice(), library))
    return error;
  auto meanSquares = request.calibration.evaluator->meanSquares(library, request.calibration.file);
  if (!meanSquares)
    return meanSquares.takeError();
  setImportance(module, observed, *meanSquares);
  return llvm::Error::success();
}

llvm::Error calibrate(ModuleOp module, const CompileRequest &request) {
  if (request.calibration.importance)
    return applyImportanceMatrix(module, request.calibration);
  if (llvm::Error error = observeImportance(module, request))
    return error;
  setUniformImportance(module, request.weights);
  auto divergence = Divergence::create(module, request);
  if (!divergence)
    return divergence.takeError();
  if (llvm::Error error = annotateDivergence(module, request.weights, **divergence))
    return error;
  return searchFormats(module, request.weights, **divergence);
}

}  // namespace talc
