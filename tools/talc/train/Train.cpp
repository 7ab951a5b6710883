// SPDX-License-Identifier: Apache-2.0
// The loop of training, which uses talc_training.h as any other program could.
#include "tools/talc/train/Train.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "compiler/TemporaryDirectory.h"
#include "dialects/talc/TalcDialect.h"
#include "runtime/ProgressLine.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/train/TokenRows.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace talc::tools {

namespace {

constexpr int64_t longestRow = 1024;

// Labels depend on what a model was made for.
enum class ObjectiveKind { Causal, Masked };

// A model that reads the keys of earlier steps predicts the next token.
llvm::Expected<ObjectiveKind> findObjective(mlir::ModuleOp module, const std::string &model) {
  auto outputs = module->getAttrOfType<mlir::ArrayAttr>(outputsAttr);
  bool isDecoder = false;
  module.walk([&](KvReadOp) { isDecoder = true; });
  if (!isDecoder &&
      (!outputs || outputs.empty() || outputs[0] != mlir::StringAttr::get(module.getContext(), logitsOutput)))
    return makeError(ErrorCode::Model,
                     "{}: has no logits of tokens; talc train trains causal and masked language models", model);
  return isDecoder ? ObjectiveKind::Causal : ObjectiveKind::Masked;
}

llvm::Expected<ObjectiveKind> compileTrainer(const CompileOptions &options, const std::string &path) {
  auto targets = targets::parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::Expected<ModelInput> input = loadModel(options, context);
  if (!input)
    return input.takeError();
  llvm::Expected<ObjectiveKind> objective = findObjective(*input->module, options.model);
  if (!objective)
    return objective;
  CompileRequest request;
  request.targets = std::move(*targets);
  request.trains = true;
  request.output = path;
  request.tokenizer = std::move(input->tokenizer);
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = defaultCacheDirectory(options.cache);
  ProgressLine progress("compile");
  request.listener.share = [&](uint64_t done, uint64_t total) { progress.show(done, total); };
  if (llvm::Error error = talc::compile(*input->module, request))
    return std::move(error);
  return objective;
}

class Training {
public:
  Training(const TrainOptions &options, ObjectiveKind objective) : options(options), objective(objective) {}
  ~Training() {
    talc_trainer_destroy(trainer);
    talc_model_close(model);
  }

  // Each returns an error, or an empty text.
  std::string open(const std::string &artifact);
  std::string run();

private:
  std::string prepare(const talc_model_info &info);
  std::string step(int64_t number, double &loss, double &norm);
  void tell(int64_t number, double loss, double norm);
  double learningRate(int64_t number) const;
  std::string save(const std::string &directory) const;
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); }

  const TrainOptions &options;
  const ObjectiveKind objective;
  talc_model *model = nullptr;
  talc_trainer *trainer = nullptr;
  TokenRows rows;
  int64_t steps = 0, rowTokens = 0;
  std::chrono::steady_clock::time_point begin;
};

}  // namespace

std::string Training::open(const std::string &artifact) {
  talc_error error;
  talc_model_info info = {};
  info.struct_size = sizeof(info);
  talc_open_options opening = {};
  opening.struct_size = sizeof(opening);
  opening.skip_weights_check = 1;  // this process wrote them
  opening.device = "cpu";
  if (talc_model_open(artifact.c_str(), &opening, &model, &error) || talc_model_get_info(model, &info, &error))
    return error.text;
  if (std::string problem = prepare(info); !problem.empty())
    return problem;
  talc_trainer_options training = {};
  training.struct_size = sizeof(training);
  training.threads = options.threads;
  training.step_tokens = static_cast<int32_t>(options.stepTokens);
  return talc_trainer_create(model, &training, &trainer, &error) ? error.text : "";
}

std::string Training::prepare(const talc_model_info &info) {
  rowTokens = options.sequence ? options.sequence : std::min<int64_t>(info.max_sequence, longestRow);
  if (rowTokens > info.max_sequence)
    return fmt::format("error[T0701]: talc train: --sequence is {}, but the model takes {} tokens", rowTokens,
                       info.max_sequence);
  std::string problem;
  std::unique_ptr<Objective> labels =
      objective == ObjectiveKind::Causal ? causalObjective() : maskedObjective(model, problem);
  if (!labels)
    return problem;
  if (problem = rows.read(model, options.data, rowTokens, std::move(labels)); !problem.empty())
    return problem;
  double positions = options.epochs * static_cast<double>(rows.count());
  steps = options.steps ? options.steps
                        : std::max<int64_t>(1, std::llround(positions / static_cast<double>(options.batch)));
  fmt::print("{} tokens in {} rows of {}, {} updates of {} rows\n", rows.tokenCount(), rows.count(), rowTokens, steps,
             options.batch);
  return "";
}

// It rises in a straight line, and then falls as the schedule says.
double Training::learningRate(int64_t number) const {
  auto done = static_cast<double>(number), all = static_cast<double>(steps);
  double warmup = std::ceil(options.warmup * all);
  if (done < warmup)
    return options.learningRate * (done + 1) / warmup;
  double share = (done - warmup) / std::max(1.0, all - warmup);
  double height = options.schedule == "constant" ? 1
                  : options.schedule == "linear" ? 1 - share
                                                 : 0.5 * (1 + std::cos(3.141592653589793 * share));
  double minShare = options.schedule == "constant" ? 0 : options.minLearningRate;
  return options.learningRate * (minShare + (1 - minShare) * height);
}

std::string Training::step(int64_t number, double &loss, double &norm) {
  std::vector<TrainingRow> batchRows;
  std::vector<talc_training_sequence> batch;
  int64_t labels = 0;
  for (int64_t i = 0; i < options.batch; ++i)
    batchRows.push_back(rows.makeRow(number * options.batch + i, static_cast<uint64_t>(options.seed)));
  for (const TrainingRow &row : batchRows) {
    batch.push_back({row.ids.data(), row.labels.data(), static_cast<int32_t>(row.ids.size()), 0});
    labels += std::count_if(row.labels.begin(), row.labels.end(), [](int32_t label) { return label >= 0; });
  }
  talc_error error;
  if (talc_trainer_accumulate(trainer, batch.data(), static_cast<int32_t>(batch.size()), 0, &loss, &error))
    return error.text;
  loss /= static_cast<double>(labels);
  auto setting = [](double value) { return value > 0 ? static_cast<float>(value) : static_cast<float>(TALC_NONE); };
  talc_update_settings settings = {};
  settings.struct_size = sizeof(settings);
  settings.learning_rate = setting(learningRate(number));
  settings.beta1 = setting(options.betas[0]);
  settings.beta2 = setting(options.betas[1]);
  settings.epsilon = setting(options.epsilon);
  settings.weight_decay = setting(options.weightDecay);
  settings.clip = setting(options.clip);
  return talc_trainer_update(trainer, &settings, &norm, &error) ? error.text : "";
}

void Training::tell(int64_t number, double loss, double norm) {
  double time = seconds();
  auto done = static_cast<double>(number + 1);
  fmt::print("step {}/{}  loss {:.4f}  lr {:.2e}  |g| {:.3f}  {:.0f} tokens/s  {} left\n", number + 1, steps, loss,
             learningRate(number), norm, done * static_cast<double>(options.batch * rowTokens) / time,
             durationText(time / done * static_cast<double>(steps - number - 1)));
  fflush(stdout);
}

std::string Training::save(const std::string &directory) const {
  talc_error error;
  return talc_trainer_save(trainer, directory.c_str(), &error) ? error.text : "";
}

std::string Training::run() {
  begin = std::chrono::steady_clock::now();
  for (int64_t number = 0; number < steps; ++number) {
    double loss = 0, norm = 0;
    if (std::string problem = step(number, loss, norm); !problem.empty())
      return problem;
    tell(number, loss, norm);
    bool isLast = number + 1 == steps;
    if (options.saveEvery > 0 && (number + 1) % options.saveEvery == 0 && !isLast)
      if (std::string problem = save(fmt::format("{}/checkpoint-{}", options.output, number + 1)); !problem.empty())
        return problem;
  }
  return save(options.output);
}

static std::string runAll(const TrainOptions &options) {
  std::string problem;
  if (!llvm::sys::fs::is_directory(options.compile.model))
    return errorText(ErrorCode::Model, "{}: is not a directory with a checkpoint of Hugging Face",
                     options.compile.model);
  if (std::error_code error = llvm::sys::fs::create_directories(options.output))
    return errorText(ErrorCode::Output, "--out: {}: cannot be made: {}", options.output, error.message());
  if (llvm::sys::fs::equivalent(options.output, options.compile.model))
    return errorText(ErrorCode::Output, "--out: {}: is the model; name another directory", options.output);
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return llvm::toString(directory.takeError());
  std::string artifact = (*directory)->file("trainer");
  auto objective = compileTrainer(options.compile, artifact);
  if (!objective)
    return llvm::toString(objective.takeError());
  Training training(options, *objective);
  problem = training.open(artifact);
  if (problem.empty())
    problem = training.run();
  return problem;
}

int train(const TrainOptions &options) {
  std::string problem = runAll(options);
  if (problem.empty())
    return success;
  llvm::errs() << problem << "\n";
  return llvm::StringRef(problem).starts_with("error[T0701]") ? wrongUsage : failed;
}

}  // namespace talc::tools
