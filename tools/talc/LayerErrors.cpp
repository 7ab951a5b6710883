// SPDX-License-Identifier: Apache-2.0
// Compiles both once more, with what their layers yield as a second result, and has them read the same text.
#include "tools/talc/LayerErrors.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "compiler/TemporaryDirectory.h"
#include "dialects/talc/TalcDialect.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/tune/Tune.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace talc::tools {

bool roundsMore(const CompileOptions &options) {
  bool rounds = options.weights.text != "checkpoint" && options.weights.text != "f32";
  for (const std::string &format : {options.state, options.keyFormat, options.valueFormat})
    rounds |= !format.empty() && format != "f32";
  return rounds || options.compute == "bf16";
}

CompileOptions exactly(const CompileOptions &options) {
  CompileOptions exact = options;
  exact.weights = {};
  exact.state = "f32";
  exact.keyFormat = exact.valueFormat = exact.calibrate = "";
  exact.compute = "f32";
  return exact;
}

static int64_t featureCount(Value activations) {
  return cast<RankedTensorType>(activations.getType()).getDimSize(1);
}

// The model keeps its first result; the second one has the outputs of all layers side by side.
static void returnLayers(func::FuncOp entry, ArrayRef<Value> layers) {
  Operation *end = entry.front().getTerminator();
  OpBuilder b(end);
  Value all = layers.front();
  for (Value layer : layers.drop_front()) {
    auto type = RankedTensorType::get({ShapedType::kDynamic, featureCount(all) + featureCount(layer)}, b.getF32Type());
    all = JoinOp::create(b, end->getLoc(), type, all, layer, 1);
  }
  all = SelectOp::create(b, end->getLoc(), all.getType(), all, entry.getArguments().back(), /*output=*/1);
  end->setOperands({end->getOperand(0), all});
  entry.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), end->getOperandTypes()));
}

// Makes the outputs of the model's layers its second result, for the tokens that the caller wants it for:
//
//   y = call @block(x)          ->  y = call @block(x)
//   z = call @block(y)              z = call @block(y)
//   return logits                   return logits, select [y | z]
//
// Returns the number of features of each layer; none if the model has several entries, or calls no layers.
static std::vector<int64_t> observeLayers(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  llvm::copy_if(module.getOps<func::FuncOp>(), std::back_inserter(entries),
                [](func::FuncOp function) { return function->hasAttr(entryAttr); });
  SmallVector<Value> layers;
  if (entries.size() == 1)
    for (auto call : entries.front().getOps<func::CallOp>())
      llvm::append_range(layers, call.getResults());
  if (layers.empty())
    return {};
  returnLayers(entries.front(), layers);
  Builder b(module.getContext());
  auto kinds = module->getAttrOfType<ArrayAttr>(outputsAttr);
  Attribute first = kinds ? kinds[0] : b.getStringAttr(logitsOutput);
  module->setAttr(outputsAttr, b.getArrayAttr({first, b.getStringAttr(hiddenOutput)}));
  std::vector<int64_t> widths;
  llvm::transform(layers, std::back_inserter(widths), featureCount);
  return widths;
}

// `widths`: features of each layer.
static llvm::Error compileLayers(const CompileOptions &options, const std::string &path, std::vector<int64_t> &widths) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &said) {  // what passes warn of was said of the program itself
    return success(said.getSeverity() != DiagnosticSeverity::Error);
  });
  llvm::Expected<ModelInput> input = loadCalibrated(options, context);
  if (!input)
    return input.takeError();
  widths = observeLayers(*input->module);
  if (widths.empty())
    return makeError(ErrorCode::Usage, "{}: is compared layer by layer only if it continues texts or fills masks",
                     options.model);
  auto targets = targets::parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  CompileRequest request;
  request.targets = std::move(*targets);
  request.weights = options.weights;
  request.compute = parseCompute(options.compute);
  request.emit = EmitKind::Library;
  request.output = path;
  request.tokenizer = std::move(input->tokenizer);
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = defaultCacheDirectory(options.cache);
  return talc::compile(*input->module, request);
}

std::string compareLayers(const CompileOptions &options, const CompileOptions &other, perplexity::Options run,
                          perplexity::Results &results) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return llvm::toString(directory.takeError());
  std::vector<int64_t> others;
  run.name = options.model;
  run.otherName = other.model;
  run.app = (*directory)->file("observed.so");
  run.against = (*directory)->file("other.so");
  if (llvm::Error error = compileLayers(options, run.app, run.layers))
    return llvm::toString(std::move(error));
  if (llvm::Error error = compileLayers(other, run.against, others))
    return llvm::toString(std::move(error));
  if (run.layers != others)
    return errorText(ErrorCode::Usage, "{} and {}: have different layers, and do not compare", options.model,
                     other.model);
  return perplexity::measure(run, results);
}

std::string compareLayers(const std::string &programDirectory, const perplexity::Options &run,
                          perplexity::Results &results) {
  CompileOptions models[2];
  const std::string *programs[] = {&run.app, &run.against};
  for (int i = 0; i < 2; ++i) {
    models[i].programDirectory = programDirectory;
    if (std::string problem = readModelOrigin("talc perplexity", *programs[i], models[i]); !problem.empty())
      return fmt::format("error[T0701]: talc perplexity: --layers: {}: {}", *programs[i], problem);
  }
  return compareLayers(models[0], models[1], run, results);
}

}  // namespace talc::tools
