// SPDX-License-Identifier: Apache-2.0
// talc tune: kernels of a model are independent of each other, so a round compiles the model with another candidate for
// every kernel at once, and looks at the time of each kernel by itself.
//
//   baseline   matmul_0: -              matmul_1: -              attention_2: -
//   code 1     matmul_0: candidate 0    matmul_1: candidate 0    attention_2: candidate 0
//   code 2     matmul_0: candidate 1    ...                        all evaluate the same steps in turn
//
// The best of many measurements flatters: at the end what was chosen is measured once more, all of it together, against
// the cost model's plans and these again (Confirmation.h). Only what is faster than equal code differs is confirmed.
#include "tools/talc/tune/Tune.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "compiler/generators/cpu/Hgen.h"
#include "compiler/passes/schedule/PlanText.h"
#include "runtime/device/cpu/Cores.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/MachineProfile.h"
#include "tools/talc/bench/Progress.h"
#include "tools/talc/tune/Candidates.h"
#include "tools/talc/tune/Comparison.h"
#include "tools/talc/tune/Measurements.h"
#include "tools/talc/tune/ShellWord.h"
#include "tools/talc/tune/TuningRecord.h"

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

// The search for one kernel: its candidates and the best plan so far.
struct Choice {
  TunableKernel kernel;
  std::vector<TuningParameters> candidates;
  TuningEntry line;
  double gain = 1;      // of the line's plan, relative to the cost model's
  int64_t goal = 0;     // the number of candidates to try, in this run and before
  std::string refused;  // what was chosen and not confirmed, for the user

  bool hasMore() const { return line.tried < goal; }
  const TuningParameters &next() const { return candidates[line.tried % candidates.size()]; }
};

class Tuner {
public:
  explicit Tuner(const TuneOptions &options) : options(options), begin(Clock::now()) {}

  llvm::Error run();

private:
  llvm::Error findKernels();
  llvm::Error openRecord();
  llvm::Error measureMachine();
  void setGoals();
  // Compiles the model with these plans, and leaves in `times` what these codes take, of which 0 has none of them. The
  // first file says which kernels there are.
  llvm::Error measure(const std::vector<std::string> &plans, const std::vector<size_t> &codes,
                      Measurements::Limits limits);
  llvm::Error search();
  llvm::Error tryNext(size_t count);
  double timeRatio(const Choice &choice, size_t code, double &worst) const;
  llvm::Error confirm();
  llvm::Expected<bool> confirmChosen();
  llvm::Error keep();
  llvm::Error unlessInterrupted(llvm::Error error) const;
  void report() const;
  std::string spreadText() const;
  std::string compileAgain() const;

  double forConfirmation() const { return 0.4 * options.budget; }
  double secondsLeft() const { return options.budget - std::chrono::duration<double>(Clock::now() - begin).count(); }
  bool hasMore() const {
    return llvm::any_of(choices, [](const Choice &choice) { return choice.hasMore(); });
  }

  const TuneOptions &options;
  const Clock::time_point begin;
  std::string path, identity;
  std::vector<Choice> choices;
  std::vector<std::string> notes;
  TuningRecord record;
  std::unique_ptr<bench::Machine> machine;
  bench::KernelList list;
  std::vector<StepTimes> times;
  double compiling = 0;  // seconds, of the file that they are of
  double spread = 0;     // of equal code's whole steps when plans were last confirmed; 0: none were chosen
  std::map<std::string, double> stepRatios;  // what is left of their time with all that was confirmed
  bench::Progress progress;
};

}  // namespace

static std::string numbersText(const TuningParameters &plan) {
  std::string numbers;
  for (const auto &[name, value] : plan)
    numbers += fmt::format("{}{} = {}", numbers.empty() ? "" : ", ", name, value);
  return numbers;
}

static std::string planText(const std::string &digest, const TuningParameters &plan) {
  return plan.empty() ? "" : fmt::format("@{}: {}; ", digest, numbersText(plan));
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
  stages.pipeline.weights = options.compile.weights.text;
  stages.pipeline.target = *target;
  stages.pipeline.compute = parseCompute(options.compile.compute);
  if (llvm::Error error = runStages(*input->module, stages))
    return error;
  if (llvm::Error error = assignPlans(*input->module, stages))
    return error;
  const bool halide = !hgenBuild().empty();
  for (auto function : input->module->getOps<mlir::func::FuncOp>()) {
    kernel::TasksOp tasks = kernel::getTasks(function);
    if (!tasks || !tasks.getPlan())
      continue;
    Choice choice;
    choice.kernel = {function.getName().str(), kernelDigest(tasks), {}, isOneRow(tasks.getComputeOp())};
    for (mlir::NamedAttribute number : tasks.getPlanAttr().getParameters())
      choice.kernel.plan[number.getName().str()] = mlir::cast<mlir::IntegerAttr>(number.getValue()).getInt();
    choice.candidates = planCandidates(choice.kernel, halide);
    choices.push_back(std::move(choice));
  }
  return llvm::Error::success();
}

llvm::Error Tuner::measureMachine() {
  progress.show("measuring the machine");
  bench::BenchOptions gpu;
  gpu.device = options.device;
  gpu.programDirectory = options.compile.programDirectory;
  Status status = options.device.empty() ? bench::Machine::create(static_cast<int32_t>(options.threads), machine)
                                         : bench::measureGpu(gpu, options.compile.target, machine);
  return status.failed() ? llvm::createStringError(status.text()) : llvm::Error::success();
}

llvm::Error Tuner::openRecord() {
  const std::string &named = options.program.empty() ? options.compile.model : options.program;
  path = options.record.empty() ? defaultTuningRecord(named) : options.record;
  NamedBy namedBy = options.record.empty() ? NamedBy::Talc : NamedBy::User;
  if (std::string problem = record.read(path, namedBy, notes); !problem.empty())
    return makeError(ErrorCode::Output, "{}; name another record by -o", problem);
  for (const std::string &note : notes)
    llvm::errs() << note << "\n";
  for (Choice &choice : choices) {
    choice.line.kernel = choice.kernel.digest;
    choice.line.target = identity;
    choice.line.threads = options.threads;
    if (const TuningEntry *entry = record.find(choice.line))
      choice.line = *entry;
    choice.line.name = choice.kernel.name;
    choice.line.processor = machine->profile().processor;
    if (auto gain = choice.line.figures.find("gain"); gain != choice.line.figures.end() && gain->is_number())
      choice.gain = gain->get<double>();
  }
  setGoals();
  return llvm::Error::success();
}

// The goal is to try all candidates once; where that was done before, once more: another day other plans may stand out.
void Tuner::setGoals() {
  int64_t passes = INT64_MAX;
  for (const Choice &choice : choices)
    if (auto count = static_cast<int64_t>(choice.candidates.size()); count > 0)
      passes = std::min(passes, choice.line.tried / count);
  for (Choice &choice : choices)
    if (auto count = static_cast<int64_t>(choice.candidates.size()); count > 0)
      choice.goal = (passes + 1) * count;
}

llvm::Error Tuner::measure(const std::vector<std::string> &plans, const std::vector<size_t> &codes,
                           Measurements::Limits limits) {
  CandidateFile file;
  double before = secondsLeft();
  if (std::string error = file.compile(options.compile, plans); !error.empty())
    return llvm::createStringError(error);
  compiling = before - secondsLeft();
  limits.seconds -= compiling;
  if (list.kernels.empty()) {
    if (Status status = bench::readKernels(file.path(), list); status.failed())
      return llvm::createStringError(status.text());
    if (!options.program.empty() && kernelsDiffer(options.program, list))
      llvm::errs() << fmt::format("note: {} has other kernels than {} has now; what is found is for the latter\n",
                                  options.program, options.compile.model);
  }
  Measurements measurements(list, machine->profile());
  if (Status status = measurements.measure(file, codes, limits); status.failed())
    return llvm::createStringError(status.text());
  times = measurements.times();
  return llvm::Error::success();
}

// Returns the geometric mean over steps of a kernel's time with a code, relative to that with the first code; `worst`:
// the largest ratio of a step.
double Tuner::timeRatio(const Choice &choice, size_t code, double &worst) const {
  double sum = 0, steps = 0;
  worst = 0;
  for (const StepTimes &step : times)
    if (auto it = step.kernels.find(choice.kernel.name); it != step.kernels.end()) {
      double first = medianInterval(it->second[0]).middle, ratio = medianInterval(it->second[code]).middle / first;
      if (!(first > 0 && ratio > 0))
        continue;
      sum += std::log(ratio);
      worst = std::max(worst, ratio);
      ++steps;
    }
  return steps > 0 ? std::exp(sum / steps) : 1;
}

// Measures the next `count` candidates of every kernel.
llvm::Error Tuner::tryNext(size_t count) {
  std::vector<std::string> plans(count);
  std::vector<size_t> codes = {0};
  for (size_t i = 0; i < count; ++i) {
    codes.push_back(i + 1);
    for (Choice choice : choices)
      if (choice.line.tried += static_cast<int64_t>(i); choice.hasMore())
        plans[i] += planText(choice.kernel.digest, choice.next());
  }
  constexpr int64_t rounds = 4;
  if (llvm::Error error = measure(plans, codes, {rounds, 0.5 * (secondsLeft() - forConfirmation())}))
    return error;
  for (Choice &choice : choices)
    for (size_t code = 1; code <= count && choice.hasMore(); ++code) {
      double worst = 0, mean = timeRatio(choice, code, worst);
      if (mean < choice.gain && mean < 0.985 && worst < 1.02) {
        choice.gain = mean;
        choice.line.plan = choice.next();
      }
      ++choice.line.tried;
      choice.line.confirmed = false;
    }
  return keep();
}

llvm::Error Tuner::search() {
  constexpr size_t candidatesPerRound = 4;
  double longest = 0;  // of a round
  for (bool first = true; hasMore() && !interrupted && (first || secondsLeft() > longest + forConfirmation());
       first = false) {
    const Choice &best = *llvm::min_element(choices, [](const Choice &a, const Choice &b) { return a.gain < b.gain; });
    progress.show(fmt::format("trying other plans for {} kernels, best so far {} {:.2f} x, {:.0f} s left",
                              choices.size(), best.kernel.name, best.gain, secondsLeft()));
    double before = secondsLeft();
    if (llvm::Error error = tryNext(candidatesPerRound))
      return error;
    longest = std::max(longest, before - secondsLeft());
  }
  return llvm::Error::success();
}

// Measures all chosen plans at once, until none has to be dropped.
llvm::Error Tuner::confirm() {
  bool all = false;
  while (!all && !interrupted) {
    progress.show("confirming the chosen plans");
    llvm::Expected<bool> confirmed = confirmChosen();
    if (!confirmed)
      return confirmed.takeError();
    all = *confirmed;
  }
  for (Choice &choice : choices)
    choice.line.confirmed |= all;
  return keep();
}

llvm::Expected<bool> Tuner::confirmChosen() {
  std::string plans;
  std::set<std::string> changed;
  for (const Choice &choice : choices)
    if (!choice.line.plan.empty()) {
      plans += planText(choice.kernel.digest, choice.line.plan);
      changed.insert(choice.kernel.name);
    }
  stepRatios.clear();
  if (changed.empty())
    return true;
  constexpr int64_t rounds = 24;
  constexpr double minSeconds = 1;
  // Takes half of the remaining time, unless the other half would not suffice to compile another file and measure it.
  double remaining = secondsLeft(), half = 0.5 * remaining;
  bool last = half < 3 * compiling + minSeconds;
  if (llvm::Error error = measure({plans}, {0, 0, 1}, {rounds, std::max(last ? remaining : half, minSeconds)}))
    return std::move(error);
  Confirmation confirmation = confirmPlans(times, changed, last);
  spread = confirmation.spread;
  for (Choice &choice : choices) {
    double again = confirmation.kernels.count(choice.kernel.name) > 0 ? confirmation.kernels[choice.kernel.name] : 1;
    if (confirmation.dropped.count(choice.kernel.name) > 0) {
      choice.refused = fmt::format("{} ({:.2f} x the time at first, {:.2f} x when measured again)",
                                   numbersText(choice.line.plan), choice.gain, again);
      choice.line.plan.clear();
    }
    choice.gain = choice.line.plan.empty() ? 1 : again;
  }
  if (confirmation.dropped.size() < changed.size())
    stepRatios = confirmation.steps;
  return last || confirmation.dropped.empty();
}

llvm::Error Tuner::keep() {
  const bench::MachineProfile &profile = machine->profile();
  for (Choice &choice : choices) {
    TuningEntry &line = choice.line;
    line.figures["candidates"] = choice.candidates.size();
    line.figures["gain"] = std::round(choice.gain * 1000) / 1000;
    for (const StepTimes &step : times)
      if (auto it = step.kernels.find(choice.kernel.name); it != step.kernels.end())
        line.figures["microseconds"][step.name] = std::round(1e7 * medianInterval(it->second[0]).middle) / 10;
    line.figures["peak_gflops"] = std::round(1e-9 * profile.f32().operationsPerSecond);
    line.figures["memory_gbs"] = std::round(1e-8 * profile.memory().bytesPerSecond) / 10;
    record.put(line);
  }
  std::string problem = record.write(path);
  return problem.empty() ? llvm::Error::success() : llvm::createStringError(problem);
}

// Says how much noise kept other plans from being confirmed.
std::string Tuner::spreadText() const {
  if (spread == 0)
    return "";
  return std::isfinite(spread) ? fmt::format("; steps of equal code differ by up to {:.1f} %", 100 * spread)
                               : "; there was no time to measure all steps six times, take a larger --budget";
}

void Tuner::report() const {
  int64_t faster = 0;
  for (const Choice &choice : choices)
    if (!choice.line.plan.empty()) {
      ++faster;
      fmt::print("{}: {:.2f} x the time with {}\n", choice.kernel.name, choice.gain, numbersText(choice.line.plan));
    } else if (!choice.refused.empty()) {
      fmt::print("{}: not confirmed: {}\n", choice.kernel.name, choice.refused);
    }
  for (const auto &[step, ratio] : stepRatios)
    fmt::print("{}: {:.2f} x the time with all of them\n", step, ratio);
  fmt::print("{}: {} of {} kernels have a faster plan{}{}\n", path, faster, choices.size(), spreadText(),
             hasMore() ? "; not all candidates were tried, and talc tune goes on when it is called again" : "");
  if (faster > 0 && !options.program.empty())
    fmt::print("{}\n", compileAgain());
}

// The command that makes a program with what was found. Its words may come from the program, which may be a stranger's.
std::string Tuner::compileAgain() const {
  std::string words;
  for (const std::string &word : options.compile.modelOptions)
    words += " " + shellWord(word);
  words += " " + shellWord("--tuned=" + path);
  return fmt::format("talc compile {}{} -o {}", shellWord(options.compile.model), words, shellWord(options.program));
}

// Replaces the error after an interruption, which removes the files of the current round.
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
  llvm::sys::SetInterruptFunction([] { interrupted = true; });
  llvm::Error error = search();
  if (!error && !interrupted)
    error = confirm();
  if (error || interrupted)
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
