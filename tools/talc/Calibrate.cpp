// SPDX-License-Identifier: Apache-2.0
// A model that shows what its layers multiply reads a text; sums squares.
#include "tools/talc/Calibrate.h"

#include "compiler/Error.h"
#include "compiler/TemporaryDirectory.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/FormatUnits.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"
#include "frontends/gguf/ImportanceFile.h"
#include "tools/talc/Divergence.h"
#include "tools/talc/FormatExchange.h"
#include "tools/talc/ImportanceMatrix.h"
#include "tools/talc/ObservedModel.h"
#include "tools/talc/perplexity/LogitsEvaluator.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MemoryBuffer.h"

#include <numeric>

using namespace mlir;

namespace talc::tools {

// Long enough for attention to have something to attend to; all features of all its tokens are in memory.
constexpr size_t windowTokens = 128;

static llvm::Error failure(const std::string &line) {
  return line.empty() ? llvm::Error::success() : llvm::createStringError(line);
}

// Of every feature the mean square over all tokens.
static llvm::Error meanSquares(const std::string &path, const std::string &text, std::vector<double> &means) {
  auto file = llvm::MemoryBuffer::getFile(text);
  if (!file)
    return makeError(ErrorCode::Usage, "--calibrate: {}: {}", text, file.getError().message());
  perplexity::LogitsEvaluator run;
  std::vector<int32_t> ids;
  if (llvm::Error error = failure(run.open(path, 0)))
    return error;
  if (llvm::Error error = failure(run.tokenize((*file)->getBuffer().str(), ids)))
    return error;
  means.assign(run.info.results[1].width, 0);
  size_t most = std::min<size_t>(windowTokens, run.info.max_sequence);
  for (size_t first = 0; first < ids.size(); first += most) {
    std::vector<int32_t> window(ids.begin() + first, ids.begin() + std::min(first + most, ids.size()));
    std::vector<int32_t> rows(window.size());
    std::iota(rows.begin(), rows.end(), 0);
    if (llvm::Error error = failure(run.evaluate(window, rows, {1})))
      return error;
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t i = 0; i < means.size(); ++i) {
        double value = run.result(1)[row * means.size() + i];
        means[i] += value * value / static_cast<double>(ids.size());
      }
  }
  return ids.empty() ? makeError(ErrorCode::Usage, "--calibrate: {}: has no tokens", text) : llvm::Error::success();
}

// What no layer multiplies by, such as a table of embeddings: all of its columns count alike.
static void weighOthers(ModuleOp module, const CompileOptions &options) {
  std::string ignored;
  for (const FormatUnit &unit : findFormatUnits(module, *parseFormatChoice(options.weights, ignored)))
    for (Operation *matrix : unit.matrices)
      if (!matrix->hasAttr(importanceAttr)) {
        std::vector<float> ones(cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getDimSize(1), 1);
        matrix->setAttr(importanceAttr, DenseF32ArrayAttr::get(matrix->getContext(), ones));
      }
}

llvm::Error calibrate(const ModelInput &input, const CompileOptions &options) {
  if (isImportanceFile(options.calibrate))
    return noteImportance(*input.module, options.calibrate);
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return directory.takeError();
  std::string path = (*directory)->file("observed.so");
  OwningOpRef<ModuleOp> copy = (*input.module).clone();
  if (!observe(*copy, createObserveFeatures()))
    return makeError(ErrorCode::Usage, "--calibrate: only models that continue texts or fill masks are calibrated");
  auto observed = (*copy)->getAttrOfType<ArrayAttr>(observedAttr);
  CompileOptions exact;
  exact.cache = options.cache;
  exact.programDirectory = options.programDirectory;
  if (llvm::Error error = compileObserved(*copy, input.tokenizer, exact, path))
    return error;
  std::vector<double> means;
  if (llvm::Error error = meanSquares(path, options.calibrate, means))
    return error;
  SymbolTable symbols(*input.module);
  size_t first = 0;
  for (auto factor : observed.getAsRange<DictionaryAttr>()) {
    size_t features = factor.getAs<IntegerAttr>(featuresKey).getInt();
    std::vector<float> importance(means.begin() + first, means.begin() + first + features);
    for (auto name : factor.getAs<ArrayAttr>(matricesKey).getAsRange<FlatSymbolRefAttr>())
      if (Operation *matrix = symbols.lookup(name.getValue()))
        matrix->setAttr(importanceAttr, DenseF32ArrayAttr::get(matrix->getContext(), importance));
    first += features;
  }
  weighOthers(*input.module, options);
  auto divergence = Divergence::make(input, options);
  if (!divergence)
    return divergence.takeError();
  if (llvm::Error error = noteDivergences(input, options, **divergence))
    return error;
  return exchangeFormats(input, options, **divergence);
}

llvm::Expected<ModelInput> loadCalibrated(const CompileOptions &options, MLIRContext &context) {
  llvm::Expected<ModelInput> input = loadModel(options, context);
  if (!input || options.calibrate.empty())
    return input;
  if (llvm::Error error = calibrate(*input, options))
    return std::move(error);
  return input;
}

}  // namespace talc::tools
