// SPDX-License-Identifier: Apache-2.0
// talc tune: kernels of a model are independent of each other, so a round compiles the model with another candidate for
// every kernel at once, and looks at the time of each kernel by itself.
//
//   baseline   contract_0: -              contract_1: -              attention_2: -
//   code 1     contract_0: candidate 0    contract_1: candidate 0    attention_2: candidate 0
//   code 2     contract_0: candidate 1    ...                        all evaluate the same steps in turn
//
// The best of many measurements flatters: at the end what was chosen is measured once more against the cost model's
// plans, and only what is still faster is confirmed.
#include "tools/talc/tune/Tune.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "compiler/generators/cpu/Hgen.h"
#include "compiler/passes/schedule/PlanText.h"
#include "runtime/device/cpu/Cores.h"
#include "tools/talc/Calibrate.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/bench/Progress.h"
#include "tools/talc/tune/Candidates.h"
#include "tools/talc/tune/Measurements.h"
#include "tools/talc/tune/Origin.h"
#include "tools/talc/tune/PlanRecord.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <chrono>
#include <cmath>

namespace talc::tools {

namespace {

using Clock = std::chrono::steady_clock;

// A signal asked for the end. The round under way ends first, so that generators leave nothing behind; a second signal
// ends the process at once.
std::atomic<bool> interrupted = false;

// What is known of a kernel.
struct Choice {
  TunableKernel kernel;
  std::vector<PlanNumbers> candidates;
  PlanLine line;
  double gain = 1;  // of the line's plan, relative to the cost model's
};

class Tuner {
public:
  explicit Tuner(const TuneOptions &options) : options(options), begin(Clock::now()) {}

  llvm::Error run();

private:
  llvm::Error findKernels();
  llvm::Error openRecord();
  llvm::Error measureMachine();
  // Compiles the model with these plans, measures, and leaves the ratios in `found`. The first file says which kernels
  // there are.
  llvm::Error measure(const std::vector<std::string> &plans, int64_t rounds);
  llvm::Error tryNext(size_t count);
  llvm::Error confirm();
  llvm::Error keep();
  llvm::Error unlessInterrupted(llvm::Error error) const;
  void report() const;
  std::string compileAgain() const;

  double secondsLeft() const { return options.budget - std::chrono::duration<double>(Clock::now() - begin).count(); }
  bool hasMore() const {
    return llvm::any_of(choices, [](const Choice &choice) {
      return choice.line.tried < static_cast<int64_t>(choice.candidates.size());
    });
  }

  const TuneOptions &options;
  const Clock::time_point begin;
  std::string path, identity;
  std::vector<Choice> choices;
  std::vector<std::string> notes;
  PlanRecord record;
  std::unique_ptr<bench::Machine> machine;
  bench::KernelList list;
  std::map<std::string, Ratios> found;
  std::map<std::pair<std::string, std::string>, double> seconds;
  bench::Progress progress;
};

}  // namespace

static std::string planText(const std::string &digest, const PlanNumbers &plan) {
  std::string numbers;
  for (const auto &[name, value] : plan)
    numbers += fmt::format("{}{} = {}", numbers.empty() ? "" : ", ", name, value);
  return plan.empty() ? "" : fmt::format("@{}: {}; ", digest, numbers);
}

// How much longer a candidate takes than the first, over all steps; `worst`: in the step where it is the worst.
static double meanRatio(const Ratios &ratios, size_t candidate, double &worst) {
  double sum = 0;
  worst = 0;
  for (const auto &[step, values] : ratios) {
    double ratio = candidate < values.size() ? values[candidate] : 1;
    sum += std::log(ratio);
    worst = std::max(worst, ratio);
  }
  return ratios.empty() ? 1 : std::exp(sum / static_cast<double>(ratios.size()));
}

static bool isOneRow(mlir::Operation *piece) {
  auto type = mlir::dyn_cast<mlir::ShapedType>(piece->getOperand(0).getType());
  for (mlir::Value operand : piece->getOperands())
    if (!type)
      type = mlir::dyn_cast<mlir::ShapedType>(operand.getType());
  return type && type.getDimSize(0) == 1;
}

llvm::Error Tuner::findKernels() {
  auto target = targets::parseTarget(options.compile.target);
  if (!target)
    return target.takeError();
  identity = (*target)->identity();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::Expected<ModelInput> input = loadCalibrated(options.compile, context);
  if (!input)
    return input.takeError();
  StageRun stages;
  stages.last = Stage::Bufferize;
  stages.pipeline.weights = options.compile.weights;
  stages.pipeline.target = *target;
  stages.pipeline.compute = computeNamed(options.compile.compute);
  if (llvm::Error error = runStages(*input->module, stages))
    return error;
  if (llvm::Error error = assignPlans(*input->module, stages))
    return error;
  const bool halide = !hgenBuild().empty();
  for (auto function : input->module->getOps<mlir::func::FuncOp>()) {
    kernel::TasksOp tasks = kernel::tasksOf(function);
    if (!tasks || !tasks.getPlan())
      continue;
    Choice choice;
    choice.kernel = {function.getName().str(), digestOf(tasks), {}, isOneRow(tasks.getPiece())};
    for (mlir::NamedAttribute number : tasks.getPlanAttr().getNumbers())
      choice.kernel.plan[number.getName().str()] = mlir::cast<mlir::IntegerAttr>(number.getValue()).getInt();
    choice.candidates = candidatesFor(choice.kernel, halide);
    choices.push_back(std::move(choice));
  }
  return llvm::Error::success();
}

llvm::Error Tuner::measureMachine() {
  progress.show("measuring the machine");
  Status status = bench::Machine::create(static_cast<int32_t>(options.threads), machine);
  return status.failed() ? llvm::createStringError(status.text()) : llvm::Error::success();
}

llvm::Error Tuner::openRecord() {
  path = options.record.empty() ? usualRecord(options.compile.model) : options.record;
  if (std::string problem = record.read(path, notes); !problem.empty())
    return makeError(ErrorCode::Output, "{}", problem);
  for (const std::string &note : notes)
    llvm::errs() << note << "\n";
  for (Choice &choice : choices) {
    choice.line.kernel = choice.kernel.digest;
    choice.line.target = identity;
    choice.line.threads = options.threads;
    if (const PlanLine *known = record.find(choice.line))
      choice.line = *known;
    choice.line.name = choice.kernel.name;
    choice.line.processor = machine->profile().processor;
    if (auto gain = choice.line.figures.find("gain"); gain != choice.line.figures.end() && gain->is_number())
      choice.gain = gain->get<double>();
  }
  return llvm::Error::success();
}

llvm::Error Tuner::measure(const std::vector<std::string> &plans, int64_t rounds) {
  CandidateFile file;
  if (std::string error = file.compile(options.compile, plans); !error.empty())
    return llvm::createStringError(error);
  if (list.kernels.empty()) {
    if (Status status = bench::readKernels(file.path(), list); status.failed())
      return llvm::createStringError(status.text());
    if (!options.program.empty() && hasOtherKernels(options.program, list))
      llvm::errs() << fmt::format("note: {} has other kernels than {} has now; what is found is for the latter\n",
                                  options.program, options.compile.model);
  }
  Measurements measurements(list, machine->profile());
  if (Status status = measurements.measure(file, plans.size() + 1, rounds); status.failed())
    return llvm::createStringError(status.text());
  found = measurements.ratios();
  for (const auto &[name, ratios] : found)
    for (const auto &[step, values] : ratios)
      seconds[{name, step}] = measurements.seconds(name, step);
  return llvm::Error::success();
}

// The next candidates of every kernel, some at a time.
llvm::Error Tuner::tryNext(size_t count) {
  std::vector<std::string> plans(count);
  for (size_t i = 0; i < count; ++i)
    for (const Choice &choice : choices)
      if (size_t next = choice.line.tried + i; next < choice.candidates.size())
        plans[i] += planText(choice.kernel.digest, choice.candidates[next]);
  if (llvm::Error error = measure(plans, /*rounds=*/3))
    return error;
  for (Choice &choice : choices)
    for (size_t i = 0; i < count; ++i) {
      auto tried = static_cast<size_t>(choice.line.tried);
      if (tried >= choice.candidates.size())
        break;
      double worst = 0, mean = meanRatio(found[choice.kernel.name], i + 1, worst);
      if (mean < choice.gain && mean < 0.985 && worst < 1.02) {
        choice.gain = mean;
        choice.line.plan = choice.candidates[tried];
      }
      ++choice.line.tried;
      choice.line.confirmed = false;
    }
  return keep();
}

// Everything that was chosen, once more.
llvm::Error Tuner::confirm() {
  std::string plans;
  for (const Choice &choice : choices)
    plans += planText(choice.kernel.digest, choice.line.plan);
  if (!plans.empty())
    if (llvm::Error error = measure({plans}, /*rounds=*/7))
      return error;
  for (Choice &choice : choices) {
    double worst = 0, mean = plans.empty() ? 1 : meanRatio(found[choice.kernel.name], 1, worst);
    if (!choice.line.plan.empty() && (mean > 0.99 || worst > 1.02))
      choice.line.plan.clear();
    choice.gain = choice.line.plan.empty() ? 1 : mean;
    choice.line.confirmed = true;
  }
  return keep();
}

llvm::Error Tuner::keep() {
  const bench::MachineProfile &profile = machine->profile();
  for (Choice &choice : choices) {
    PlanLine &line = choice.line;
    line.figures["candidates"] = choice.candidates.size();
    line.figures["gain"] = std::round(choice.gain * 1000) / 1000;
    for (const auto &[step, values] : found[choice.kernel.name])
      line.figures["microseconds"][step] = std::round(1e7 * seconds[{choice.kernel.name, step}]) / 10;
    line.figures["peak_gflops"] = std::round(1e-9 * profile.f32().operationsPerSecond);
    line.figures["memory_gbs"] = std::round(1e-8 * profile.memory().bytesPerSecond) / 10;
    record.put(line);
  }
  std::string problem = record.write(path);
  return problem.empty() ? llvm::Error::success() : makeError(ErrorCode::Output, "{}", problem);
}

void Tuner::report() const {
  int64_t faster = 0;
  for (const Choice &choice : choices)
    if (!choice.line.plan.empty()) {
      ++faster;
      fmt::print("{}: {:.2f} x the time with {}\n", choice.kernel.name, choice.gain,
                 llvm::StringRef(planText("", choice.line.plan)).drop_front(3).drop_back(2).str());
    }
  fmt::print("{}: {} of {} kernels have a faster plan{}\n", path, faster, choices.size(),
             hasMore() ? "; not all candidates were tried, and talc tune goes on when it is called again" : "");
  if (faster > 0 && !options.program.empty())
    fmt::print("{}\n", compileAgain());
}

// The command that makes a program with what was found.
std::string Tuner::compileAgain() const {
  std::string words;
  for (const std::string &word : options.compile.modelOptions)
    words += word.find_first_of(" ;*'") == std::string::npos ? " " + word : " '" + word + "'";
  if (!options.record.empty())
    words += " --tuned=" + options.record;
  return fmt::format("talc compile {}{} -o {}", options.compile.model, words, options.program);
}

// What else went wrong does not matter then: files of the round under way are gone.
llvm::Error Tuner::unlessInterrupted(llvm::Error error) const {
  if (!interrupted)
    return error;
  llvm::consumeError(std::move(error));
  return llvm::createStringError(
      fmt::format("interrupted; {} has what was tried, and talc tune goes on from there", path));
}

llvm::Error Tuner::run() {
  progress.show("looking for kernels");
  if (llvm::Error error = findKernels())
    return error;
  if (llvm::Error error = measureMachine())
    return error;
  if (llvm::Error error = openRecord())
    return error;
  constexpr size_t together = 4;
  double longest = 0;  // of a round; as much is left for the last one
  llvm::sys::SetInterruptFunction([] { interrupted = true; });
  for (bool first = true; hasMore() && !interrupted && (first || secondsLeft() > longest); first = false) {
    const Choice &best = *llvm::min_element(choices, [](const Choice &a, const Choice &b) { return a.gain < b.gain; });
    progress.show(fmt::format("trying candidates {} to {} of {} kernels, best so far {} {:.2f} x, {:.0f} s left",
                              choices.front().line.tried + 1, choices.front().line.tried + together, choices.size(),
                              best.kernel.name, best.gain, secondsLeft()));
    double before = secondsLeft();
    if (llvm::Error error = tryNext(together))
      return unlessInterrupted(std::move(error));
    longest = std::max(longest, before - secondsLeft());
  }
  if (interrupted)
    return unlessInterrupted(llvm::Error::success());
  progress.show("measuring what was chosen once more");
  if (llvm::Error error = confirm())
    return unlessInterrupted(std::move(error));
  progress.show("");
  report();
  return llvm::Error::success();
}

int tune(const TuneOptions &options) {
  if (options.threads > threadLimit()) {
    llvm::errs() << errorText(ErrorCode::Usage, "talc tune: -t: {} threads, but this process may use {}\n",
                              options.threads, threadLimit());
    return wrongUsage;
  }
  llvm::Error error = Tuner(options).run();
  if (!error)
    return success;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return failed;
}

}  // namespace talc::tools
