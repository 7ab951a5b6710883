// SPDX-License-Identifier: Apache-2.0
// Rounds are interleaved, so that a disturbance affects all candidates alike; medians are compared.
#include "tools/talc/bench/OpTest.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/bench/MathLibraries.h"
#include "tools/talc/bench/Table.h"
#include "tools/talc/bench/Timing.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace talc::bench {

using Json = nlohmann::ordered_json;

constexpr const char *opLegend =
    R"(time     median of the rounds ± standard deviation; GFLOP/s and GB/s follow from it
of roof  the least time that the machine could take, by the peak or bandwidth that roof names, divided by the time
roof     the peak (FMA, int8, bf16) or the level of memory that bounds the op; a cache is measured at the op's size
spills   vector registers that the compiled code keeps in memory
talc is  the time of the library or generator in the columns before, divided by talc's
)";

// The time of a candidate in a round.
constexpr double turnSeconds = 0.02;
// The threads of OpenBLAS and OpenMP spin for up to 30 ms before they sleep, which takes time from whoever is next.
constexpr auto pauseBetweenTurns = std::chrono::milliseconds(50);

static void awaitSleep(int32_t threads) {
  if (threads > 1)
    std::this_thread::sleep_for(pauseBetweenTurns);
}

static Status takeTurn(KernelSampler &sampler) {
  Stopwatch watch(0);
  do
    if (Status status = sampler.sample(); status.failed())
      return status;
  while (watch.seconds() < turnSeconds);
  return {};
}

static void takeTurn(const LibraryMatmul &product, int32_t threads, std::vector<double> &samples) {
  Stopwatch turn(0);
  do {
    Stopwatch watch(threads);
    product.run();
    samples.push_back(watch.seconds());
  } while (turn.seconds() < turnSeconds);
}

const KernelResult *findKernel(const PhaseResult &phase, const OpSpec &spec) {
  const KernelResult *first = nullptr;
  for (const KernelResult &kernel : phase.kernels)
    if (kernel.kernel->op == spec.op && (!first || kernel.kernel < first->kernel))
      first = &kernel;
  return first;
}

StepShape opStep(const OpSpec &spec, const KernelList &list) {
  return {1, spec.rows, spec.past, true, list.encoder};
}

// Returns the matmuls of libraries for the number type of the op.
static std::vector<LibraryMatmul> productsLike(const OpSpec &spec, const KernelList &list,
                                               const MachineProfile &machine) {
  if (spec.columns == 0 || !machine.device.empty())
    return {};
  PhaseResult phase = countKernels(list, opStep(spec, list), spec.text);
  const KernelResult *opKernel = findKernel(phase, spec);
  auto products = opKernel && opKernel->kernel->rounded == "bf16" ? bf16Matmuls : f32Matmuls;
  return products(spec.rows, spec.depth, spec.columns, machine.threads);
}

static Status missingKernel(const OpSpec &spec) {
  return Status::failure(TALC_ERROR_DAMAGED, "talc bench: --op '%s': the compiler left no kernel of its own",
                         spec.text.c_str());
}

// Warmed up.
static Status startSampler(ModelRun &run, const KernelList &list, const StepShape &step, int32_t threads,
                           std::vector<std::unique_ptr<KernelSampler>> &samplers) {
  if (Status status = run.start(threads, 1); status.failed())
    return status;
  samplers.push_back(std::make_unique<KernelSampler>(run, list, step));
  return samplers.back()->sample();
}

Status runOp(ModelRun &run, const KernelList &list, const OpSpec &spec, const MachineProfile &machine,
             const std::vector<OpBaseline> &baselines, int64_t repetitions, OpResult &result) {
  const int32_t threads = std::max(machine.threads, 1);  // a GPU has none
  StepShape step = opStep(spec, list);
  std::vector<std::unique_ptr<KernelSampler>> samplers;
  if (Status status = startSampler(run, list, step, threads, samplers); status.failed())
    return status;
  for (const OpBaseline &baseline : baselines)
    if (Status status = startSampler(baseline.run, baseline.list, step, threads, samplers); status.failed())
      return status;
  std::vector<LibraryMatmul> products = productsLike(spec, list, machine);
  std::vector<std::vector<double>> samples(products.size());
  for (const LibraryMatmul &product : products)
    product.run();
  for (int64_t round = 0; round < repetitions; ++round) {
    for (const auto &sampler : samplers) {
      awaitSleep(machine.threads);
      if (Status status = takeTurn(*sampler); status.failed())
        return status;
    }
    for (size_t i = 0; i < products.size(); ++i) {
      awaitSleep(machine.threads);
      takeTurn(products[i], machine.threads, samples[i]);
    }
  }
  for (size_t i = 0; i < samplers.size(); ++i) {
    PhaseResult phase = samplers[i]->result(spec.text, machine);
    const KernelResult *opKernel = findKernel(phase, spec);
    if (!opKernel)
      return missingKernel(spec);
    const KernelList &kernels = i == 0 ? list : baselines[i - 1].list;
    double spread = deviation(samplers[i]->kernelSeconds(opKernel->kernel - kernels.kernels.data()));
    if (i == 0)
      result = {spec.text, machine, step, *opKernel, spread, {}};
    else
      result.baselines.push_back({baselines[i - 1].generator, "", "", opKernel->time.total(), spread});
  }
  for (size_t i = 0; i < products.size(); ++i)
    result.baselines.push_back(
        {products[i].library, products[i].type, products[i].kernel, median(samples[i]), deviation(samples[i])});
  return {};
}

// "12.3 us ± 210 ns"
static std::string formatTime(double seconds, double deviation) {
  return formatSeconds(seconds) + " ± " + formatSeconds(deviation);
}

// The baselines that any op has, in the order in which they come.
static std::vector<std::string> baselineTitles(const std::vector<OpResult> &results) {
  std::vector<std::string> titles;
  for (const OpResult &result : results)
    for (const BaselineTime &baseline : result.baselines)
      if (!llvm::is_contained(titles, baseline.title()))
        titles.push_back(baseline.title());
  return titles;
}

static void addBaseline(const OpResult &result, const std::string &title, std::vector<std::string> &cells) {
  auto baseline = llvm::find_if(result.baselines, [&](const BaselineTime &b) { return b.title() == title; });
  if (baseline == result.baselines.end())
    return void(cells.insert(cells.end(), 3, ""));
  double seconds = result.kernel.time.total();
  cells.push_back(formatTime(baseline->seconds, baseline->deviation));
  cells.push_back(formatRate(result.kernel.costs.operations, baseline->seconds));
  cells.push_back(seconds > 0 ? fmt::format("{:.2f} x", baseline->seconds / seconds) : "-");
}

static std::string formatTable(const std::vector<OpResult> &results) {
  const bool onGpu = !results.front().machine.device.empty();
  std::vector<Column> columns = {{"op"},
                                 {"shape"},
                                 {onGpu ? "device" : "threads", true},
                                 {"time", true},
                                 {"GFLOP/s", true},
                                 {"GB/s", true},
                                 {"of roof", true},
                                 {"roof"},
                                 {"spills", true}};
  const std::vector<std::string> titles = baselineTitles(results);
  for (const std::string &title : titles)
    columns.insert(columns.end(), {{title, true}, {"GFLOP/s", true}, {"talc is", true}});
  Table table(columns);
  for (const OpResult &result : results) {
    const StepCosts &costs = result.kernel.costs;
    double seconds = result.kernel.time.total();
    std::vector<std::string> cells = {result.text,
                                      result.kernel.kernel->shapes,
                                      onGpu ? result.machine.device : std::to_string(result.machine.threads),
                                      formatTime(seconds, result.deviation),
                                      formatRate(costs.operations, seconds),
                                      formatRate(costs.bytes(), seconds),
                                      formatShare(result.kernel.share()),
                                      result.kernel.limit,
                                      std::to_string(result.kernel.kernel->spills)};
    for (const std::string &title : titles)
      addBaseline(result, title, cells);
    table.add(cells);
  }
  return table.markdown();
}

static Json describe(const OpResult &result) {
  double seconds = result.kernel.time.total();
  Json row = {{"op", result.text},
              {result.machine.device.empty() ? "cpu_info" : "gpu_info", result.machine.processor},
              {"n_threads", result.machine.threads},
              {"n_depth", result.step.past},
              {"shapes", result.kernel.kernel->shapes},
              {"seconds", seconds},
              {"operations", static_cast<int64_t>(result.kernel.costs.operations)},
              {"bytes", static_cast<int64_t>(result.kernel.costs.bytes())},
              {"gflops", 1e-9 * result.kernel.costs.operations / seconds},
              {"peak_gflops", 1e-9 * result.machine.peakFor(*result.kernel.kernel).operationsPerSecond},
              {"roof_seconds", result.kernel.roofSeconds},
              {"roof_share", result.kernel.share()},
              {"roof", result.kernel.limit},
              {"spills", result.kernel.kernel->spills}};
  for (const BaselineTime &baseline : result.baselines) {
    row[baseline.name + "_seconds"] = baseline.seconds;
    if (!baseline.kernel.empty())
      row[baseline.name + "_kernel"] = baseline.kernel;
  }
  row["stddev_seconds"] = result.deviation;
  for (const BaselineTime &baseline : result.baselines) {
    row[baseline.name + "_stddev_seconds"] = baseline.deviation;
    if (!baseline.type.empty())
      row[baseline.name + "_type"] = baseline.type;
  }
  return row;
}

std::string formatOpResults(const std::vector<OpResult> &results, const std::string &format, bool legend) {
  if (format == "md")
    return formatTable(results) + (legend ? "\n" + std::string(opLegend) : "");
  Json rows = Json::array();
  for (const OpResult &result : results)
    rows.push_back(describe(result));
  return formatRecords(rows, format, "talc_ops");
}

static llvm::Error compileProgram(const OpSpec &spec, const BenchOptions &options, const std::string &generator,
                                  const std::string &path) {
  auto targets = targets::parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(spec.program, mlir::ParserConfig(&context));
  if (!module)
    return internalError("the program for '{}' is not valid", spec.text);
  CompileRequest request;
  request.targets = std::move(*targets);
  const std::string &weights = spec.weights.empty() ? options.weights : spec.weights;
  request.weights = FormatChoice::uniform(*findStorageFormat(weights.empty() ? "f32" : weights));
  request.compute = tools::parseCompute(options.compute);
  request.generator = generator;
  request.plans = {options.plans};
  request.output = path;
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = defaultCacheDirectory();
  return talc::compile(*module, request);
}

std::string CompiledOp::compile(const OpSpec &spec, const BenchOptions &options, const std::string &generator) {
  auto temporary = TemporaryDirectory::make();
  if (!temporary)
    return llvm::toString(temporary.takeError());
  directory = std::move(*temporary);
  file = directory->file("op");
  llvm::Error error = compileProgram(spec, options, generator, file);
  return error ? llvm::toString(std::move(error)) : "";
}

}  // namespace talc::bench
