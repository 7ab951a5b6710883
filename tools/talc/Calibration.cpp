// SPDX-License-Identifier: Apache-2.0
// The evaluator runs the compiler's libraries with the runtime that is linked into talc.
#include "tools/talc/ModelInput.h"

#include "compiler/Error.h"
#include "compiler/quantize/Calibration.h"
#include "frontends/NamedFile.h"
#include "frontends/gguf/Gguf.h"
#include "runtime/ProgressLine.h"
#include "tools/talc/perplexity/LogitsEvaluator.h"
#include "tools/talc/perplexity/Perplexity.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <numeric>

namespace talc::tools {

// Long enough for attention to have something to attend to; all features of all tokens of a window are in memory.
constexpr size_t windowTokens = 128;
constexpr int32_t comparedTokens = 112;  // the tokens before have little to attend to

static llvm::Error toError(const std::string &line) {
  return line.empty() ? llvm::Error::success() : llvm::createStringError(line);
}

namespace {

class RuntimeEvaluator : public ModelEvaluator {
public:
  llvm::Expected<std::vector<double>> meanSquares(const std::string &library, const std::string &text) override {
    std::string problem;
    auto content = readNamedFile(text, {perplexity::maxTextBytes}, problem);
    if (!content)
      return makeError(ErrorCode::Usage, "--calibrate: {}: {}", text, problem);
    perplexity::LogitsEvaluator model;
    std::vector<int32_t> ids;
    if (llvm::Error error = toError(model.open(library, 0)))
      return error;
    if (llvm::Error error = toError(model.tokenize(*content, ids)))
      return error;
    if (ids.empty())
      return makeError(ErrorCode::Usage, "--calibrate: {}: has no tokens", text);
    std::vector<double> means(model.info.results[1].width, 0);
    size_t maxTokens = std::min<size_t>(windowTokens, model.info.max_sequence);
    ProgressLine progress("calibrate");
    for (size_t first = 0; first < ids.size(); first += maxTokens) {
      progress.show(first, ids.size());
      std::vector<int32_t> window(ids.begin() + first, ids.begin() + std::min(first + maxTokens, ids.size()));
      if (llvm::Error error = addWindow(window, static_cast<double>(ids.size()), model, means))
        return error;
    }
    return means;
  }

  llvm::Expected<double> divergence(const std::string &library, const std::string &reference, const std::string &text,
                                    int32_t windows) override {
    perplexity::Options run;
    run.app = library;
    run.against = reference;
    run.text = text;
    run.context = windowTokens;
    run.compared = comparedTokens;
    run.windows = windows;
    perplexity::Results results;
    if (llvm::Error error = toError(perplexity::measure(run, results)))
      return error;
    return results.comparison->divergence.mean;
  }

private:
  static llvm::Error addWindow(const std::vector<int32_t> &window, double textTokens,
                               perplexity::LogitsEvaluator &model, std::vector<double> &means) {
    std::vector<int32_t> tokens(window.size());
    std::iota(tokens.begin(), tokens.end(), 0);
    if (llvm::Error error = toError(model.evaluate(window, tokens, {1})))
      return error;
    for (size_t token = 0; token < tokens.size(); ++token)
      for (size_t i = 0; i < means.size(); ++i) {
        double value = model.result(1)[token * means.size() + i];
        means[i] += value * value / textTokens;
      }
    return llvm::Error::success();
  }
};

}  // namespace

llvm::Expected<CalibrationOptions> calibrationOptions(const CompileOptions &options) {
  CalibrationOptions calibration;
  calibration.file = options.calibrate;
  if (options.calibrate.empty())
    return calibration;
  std::string problem;
  if (!openNamedFile(options.calibrate, problem))  // known before a model is compiled that reads it
    return makeError(ErrorCode::Usage, "--calibrate: {}: {}", options.calibrate, problem);
  if (isImportanceFile(options.calibrate)) {
    Diagnostics diagnostics;
    auto table = readImportance(options.calibrate, diagnostics);
    if (!table)
      return llvm::createStringError(llvm::join(diagnostics.errors(), "\n"));
    calibration.importance = [table = std::move(*table)](const std::string &weight, int64_t columns,
                                                         bool isTransposed) {
      return lookupImportance(table, weight, columns, isTransposed);
    };
    return calibration;
  }
  calibration.evaluator = std::make_shared<RuntimeEvaluator>();
  calibration.cacheDirectory = defaultCacheDirectory(options.cache);
  return calibration;
}

llvm::Expected<ModelInput> loadCalibrated(const CompileOptions &options, mlir::MLIRContext &context) {
  llvm::Expected<ModelInput> input = loadModel(options, context);
  if (!input || options.calibrate.empty())
    return input;
  auto calibration = calibrationOptions(options);
  if (!calibration)
    return calibration.takeError();
  CompileRequest request;
  request.weights = options.weights;
  request.calibration = std::move(*calibration);
  request.tokenizer = input->tokenizer;
  request.programDirectory = options.programDirectory;
  if (llvm::Error error = calibrate(*input->module, request))
    return std::move(error);
  return input;
}

}  // namespace talc::tools
