// SPDX-License-Identifier: Apache-2.0
// talc compile: loads a model, runs the stages, writes the product.
#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "compiler/artifact/OutputFile.h"
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/formats/FormatChoice.h"
#include "frontends/Frontends.h"
#include "tools/talc/CompileOptions.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/LayerErrors.h"
#include "tools/talc/MlirFlags.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/OriginRecord.h"
#include "tools/talc/Remarks.h"
#include "tools/talc/Report.h"
#include "tools/talc/inspect/InspectPage.h"
#include "tools/talc/inspect/PassRecorder.h"
#include "tools/talc/perplexity/Perplexity.h"
#include "tools/talc/tune/TuningRecord.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>
#include <optional>
#include <set>

namespace talc::tools {

static EmitKind emitKind(const std::string &emit) {
  static const std::map<std::string, EmitKind> kinds = {{"exe", EmitKind::Program},
                                                        {"lib", EmitKind::Library},
                                                        {"object", EmitKind::Object},
                                                        {"code", EmitKind::Code},
                                                        {"ir", EmitKind::Ir}};
  auto it = kinds.find(emit);
  return it == kinds.end() ? EmitKind::Listing : it->second;
}

// Whether the output is an artifact and not a listing.
static bool makesProduct(const CompileOptions &options) {
  bool stops = !options.stopAfter.empty() && options.stopAfter != "package";
  return !stops && !emitsText(options);
}

// Whether the user watches passes or changes them by flags, so that all of them have to run and the cache is off.
static bool watchesPasses(const CompileOptions &options) {
  return !options.remarks.empty() || !options.inspect.empty() || !options.mlirFlags.empty();
}

// Sends remarks where the options ask for them.
static llvm::Error listen(mlir::MLIRContext &context, const CompileOptions &options, PassRecorder &recorder) {
  std::function<void(std::string)> listener;
  if (!options.inspect.empty())
    listener = [&recorder](std::string line) { recorder.addRemark(std::move(line)); };
  if (options.remarks.empty() && !listener)
    return llvm::Error::success();
  std::string problem = collectRemarks(context, options.remarks, listener);
  return problem.empty() ? llvm::Error::success()
                         : makeError(ErrorCode::Usage, "--remarks: '{}' {}", options.remarks, problem);
}

static CompileRequest makeRequest(const CompileOptions &options, Report &report, PassRecorder &recorder) {
  CompileRequest request;
  request.weights = options.weights;
  request.generator = options.generator;
  request.compute = parseCompute(options.compute);
  request.trains = options.trains;
  request.first = parseStage(options.startFrom).value_or(Stage::Import);
  request.last = parseStage(options.stopAfter).value_or(Stage::Package);
  request.emit = emitKind(options.emit);
  request.listing = options.emit;
  request.output = options.output.empty() ? "-" : options.output;
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = watchesPasses(options) ? "" : defaultCacheDirectory(options.cache);
  request.dumpDirectory = options.dump;
  request.listener = {[&](llvm::StringRef stage) {
                        recorder.beginStage(stage);
                        report.begin(stage.str());
                      },
                      [&](llvm::StringRef part) { report.beginPart(part.str()); },
                      [&](uint64_t done, uint64_t total) { report.showShare(done, total); }};
  request.configure = [&](mlir::PassManager &passes, bool further) {
    if (!options.inspect.empty() && !further)  // the page shows the first target's passes
      recorder.watch(passes);
    return configurePasses(passes);
  };
  return request;
}

// Whether a tokenizer was probably expected: the model comes from files, or from a program that was made from them.
static bool lacksTokenizer(const CompileOptions &options, const CompileRequest &request) {
  bool takesText = request.emit == EmitKind::Program || request.emit == EmitKind::Library;
  return takesText && request.last == Stage::Package && request.tokenizer.empty() && !options.randomWeights &&
         (findFrontend(options.model) || !options.startFrom.empty());
}

using Measured = std::optional<perplexity::Results>;

// Stores the results in the module, where the manifest and the page find them.
static void note(mlir::ModuleOp module, const CompileOptions &options, const perplexity::Results &results) {
  mlir::Builder b(module.getContext());
  llvm::SmallVector<mlir::NamedAttribute> entries;
  auto add = [&](llvm::StringRef key, mlir::Attribute value) { entries.push_back(b.getNamedAttr(key, value)); };
  auto addNumber = [&](llvm::StringRef key, double value) { add(key, b.getF64FloatAttr(value)); };
  add(measuredKeys::text, b.getStringAttr(llvm::sys::path::filename(options.measure)));
  add(measuredKeys::predictions, b.getI64IntegerAttr(results.predictions));
  add(measuredKeys::context, b.getI64IntegerAttr(results.context));
  if (results.perplexity) {
    addNumber(measuredKeys::perplexity, results.perplexity->mean);
    addNumber(measuredKeys::error, results.perplexity->error);
  }
  if (const auto &comparison = results.comparison) {
    addNumber(measuredKeys::divergence, comparison->divergence.mean);
    addNumber(measuredKeys::divergenceError, comparison->divergence.error);
    addNumber(measuredKeys::maxDivergence, comparison->maxDivergence);
    addNumber(measuredKeys::sameTop, comparison->sameTop.mean);
    llvm::SmallVector<mlir::Attribute> means, maxErrors;
    for (const perplexity::Comparison::Layer &layer : comparison->layers) {
      means.push_back(b.getF64FloatAttr(layer.mean));
      maxErrors.push_back(b.getF64FloatAttr(layer.maxError));
    }
    add(measuredKeys::layerErrors, b.getArrayAttr(means));
    add(measuredKeys::maxErrors, b.getArrayAttr(maxErrors));
  }
  module->setAttr(measuredAttr, b.getDictionaryAttr(entries));
}

// Whether reading the input again gives the same program, which the input of a later stage does not.
static bool isWholeModel(const CompileOptions &options) {
  Stage first = parseStage(options.startFrom).value_or(Stage::Import);
  return findFrontend(options.model) || (first <= Stage::Optimize && makesProduct(options));
}

// Lets talc tune find the model of a program. A program that an earlier run printed states its model already, but not
// the options of this run.
static void noteOrigin(mlir::ModuleOp module, const CompileOptions &options) {
  mlir::Builder b(module.getContext());
  mlir::NamedAttrList origin(module->getAttrOfType<mlir::DictionaryAttr>(originAttr));
  if (!origin.get(originKeys::model) && isWholeModel(options))
    origin.set(originKeys::model, b.getStringAttr(options.model));
  llvm::SmallVector<mlir::Attribute> words;
  if (auto earlier = mlir::dyn_cast_or_null<mlir::ArrayAttr>(origin.get(originKeys::options)))
    llvm::append_range(words, earlier);
  for (const std::string &word : options.modelOptions)
    words.push_back(b.getStringAttr(word));
  origin.set(originKeys::options, b.getArrayAttr(words));
  if (origin.get(originKeys::model))
    module->setAttr(originAttr, origin.getDictionary(module.getContext()));
}

// Products have no paths, so that the cache of this machine keeps them.
static void keepOrigin(mlir::ModuleOp module, const CompileOptions &options) {
  auto noted = module->getAttrOfType<mlir::DictionaryAttr>(originAttr);
  auto model = noted ? noted.getAs<mlir::StringAttr>(originKeys::model) : mlir::StringAttr();
  if (!model || !makesProduct(options))
    return;
  ModelOrigin origin = {model.str(), {}};
  for (mlir::Attribute word : noted.getAs<mlir::ArrayAttr>(originKeys::options))
    if (auto text = mlir::dyn_cast<mlir::StringAttr>(word))
      origin.options.push_back(text.str());
  recordOrigin(defaultCacheDirectory(options.cache), options.output, origin);
}

// The plans come from the tuning record of each target; overrides of the user come after them.
static llvm::Error addPlans(const CompileOptions &options, CompileRequest &request) {
  for (const targets::TargetPtr &target : request.targets)
    if (std::string problem = options.plans.empty() ? "" : target->checkPlans(options.plans); !problem.empty())
      return makeError(ErrorCode::Usage, "talc compile: --plan: {}{}; see talc compile --help",
                       request.targets.size() > 1 ? "target " + target->name() + ": " : "", problem);
  std::string path = options.tuned.empty() ? defaultTuningRecord(options.model) : options.tuned;
  TuningRecord record;
  std::vector<std::string> notes;
  if (path != "off") {
    if (!options.tuned.empty() && !llvm::sys::fs::exists(path))
      return makeError(ErrorCode::Model, "--tuned: {}: does not exist; talc tune writes such a file", path);
    NamedBy namedBy = options.tuned.empty() ? NamedBy::Talc : NamedBy::User;
    if (std::string problem = record.read(path, namedBy, notes); !problem.empty())
      notes.push_back("note: " + problem + ": ignored");
  }
  std::vector<std::string> identities;
  for (const targets::TargetPtr &target : request.targets) {
    identities.push_back(target->identity());
    request.plans.push_back(record.planOverridesFor(identities.back()) + options.plans);
  }
  if (std::string processors = record.foreignProcessors(identities); !processors.empty())
    notes.push_back(
        fmt::format("note: {}: has plans for {} only, none for {}: ignored", path, processors, options.target));
  for (const std::string &note : notes)
    llvm::errs() << note << "\n";
  return llvm::Error::success();
}

// Prints the warnings of passes, a line each and none twice, since several targets may give the same one.
static mlir::LogicalResult tellWarning(mlir::Diagnostic &diagnostic, std::set<std::string> &printed) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Warning)
    return mlir::failure();
  if (std::string text = diagnostic.str(); printed.insert(text).second)
    llvm::errs() << "warning: " << text << "\n";
  return mlir::success();
}

static void tellChoices(mlir::ModuleOp module, const CompileOptions &options, const CompileRequest &request) {
  if (auto text = module->getAttrOfType<mlir::StringAttr>(chosenFormatsAttr))
    llvm::errs() << "weights: " << text.getValue() << "\n";
  if (lacksTokenizer(options, request))
    llvm::errs() << fmt::format("warning: {}: comes without a tokenizer, so that the compiled model takes and prints "
                                "token ids only; --tokenizer=PATH adds one\n",
                                options.model);
}

static llvm::Error compile(const CompileOptions &options, Report &report, PassRecorder &recorder,
                           const Measured &measured) {
  CompileRequest request = makeRequest(options, report, recorder);
  auto targets = targets::parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  request.targets = std::move(*targets);
  const targets::Target &best = *request.targets.front();
  if (request.emit == EmitKind::Listing && !llvm::is_contained(best.listingKinds(), options.emit))
    return makeError(ErrorCode::Usage, "--emit={}: target {} has no such listing, but {}", options.emit, best.name(),
                     llvm::join(best.listingKinds(), ", "));
  if (llvm::Error error = addPlans(options, request))
    return error;
  report.begin("import");
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  std::set<std::string> printed;
  mlir::ScopedDiagnosticHandler warnings(
      &context, [&printed](mlir::Diagnostic &diagnostic) { return tellWarning(diagnostic, printed); });
  llvm::Expected<ModelInput> input = loadModel(options, context);
  if (!input)
    return input.takeError();
  noteOrigin(*input->module, options);
  if (measured)
    note(*input->module, options, *measured);
  auto calibration = calibrationOptions(options);
  if (!calibration)
    return calibration.takeError();
  request.calibration = std::move(*calibration);
  request.inspectModel = [&](mlir::ModuleOp module) -> llvm::Error {  // after the compilations for calibration
    if (llvm::Error error = listen(context, options, recorder))
      return error;
    if (!options.inspect.empty())
      recorder.addImport(module);
    return llvm::Error::success();
  };
  request.inspectCode = [&](const targets::Target &target, mlir::ModuleOp module) -> llvm::Error {
    if (options.inspect.empty())
      return llvm::Error::success();
    double begin = report.seconds();
    auto listings = target.functionListings(module, [](llvm::StringRef) {});
    if (!listings)
      return listings.takeError();
    recorder.addListings(*listings, report.seconds() - begin);
    return llvm::Error::success();
  };
  request.tokenizer = std::move(input->tokenizer);
  request.source = options.model;
  if (llvm::Error error = talc::compile(*input->module, request))
    return error;
  keepOrigin(*input->module, options);
  tellChoices(*input->module, options, request);
  return llvm::Error::success();
}

static Compilation describeOptions(const CompileOptions &options, const Report &report) {
  std::string target = options.target;
  if (auto targets = targets::parseTargets(options.target)) {
    auto names = llvm::map_range(*targets, [](const targets::TargetPtr &one) { return one->name(); });
    target = (options.target == "native" ? "native: " : "") + llvm::join(names, ", ");
  } else {
    llvm::consumeError(targets.takeError());
  }
  return {options.model, target, options.weights.text, options.emit, report.seconds()};
}

static llvm::Error writeInspection(const PassRecorder &recorder, const CompileOptions &options, const Report &report) {
  nlohmann::ordered_json data = describeCompilation(recorder, describeOptions(options, report));
  const std::string &name = recorder.facts().name;
  return writeText(llvm::StringRef(options.inspect).ends_with(".json")
                       ? renderJson(data)
                       : renderPage(data, name.empty() ? options.model : name),
                   options.inspect);
}

// Compiles the model, measures it, and lets the caller compile it again with the results. Nothing is shown of the first
// compilation. A quantized model is compared with one that is not.
static llvm::Error measure(const CompileOptions &options, Measured &measured) {
  if (options.measure.empty())
    return llvm::Error::success();
  perplexity::Options run;
  run.app = options.output;
  run.text = options.measure;
  run.progress = "measure";
  measured.emplace();
  if (roundsMore(options) && findFrontend(options.model)) {
    std::string problem = compareLayers(options, exactly(options), run, *measured);
    return problem.empty() ? llvm::Error::success() : llvm::createStringError(problem);
  }
  CompileOptions plain = options;
  plain.dump = plain.inspect = plain.remarks = "";
  Report report;
  PassRecorder recorder;
  if (llvm::Error error = compile(plain, report, recorder, {}))
    return error;
  report.begin("measure");
  std::string problem = perplexity::measure(run, *measured);
  report.begin("");
  return problem.empty() ? llvm::Error::success() : llvm::createStringError(problem);
}

int compile(const CompileOptions &options) {
  Report report;
  PassRecorder recorder;
  Measured measured;
  llvm::Error error = measure(options, measured);
  if (!error)
    error = compile(options, report, recorder, measured);
  report.begin("");
  if (!recorder.passes().empty())  // also after a failure, to show how far the program came
    error = llvm::joinErrors(std::move(error), writeInspection(recorder, options, report));
  if (options.time)
    report.printTimes();
  if (!error && makesProduct(options))
    report.wrote(options.output);
  if (!error)
    return success;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return failed;
}

}  // namespace talc::tools
