// SPDX-License-Identifier: Apache-2.0
// Runs chains with more and more rows until one takes long enough for the clock of the GPU.
#include "tools/talc/bench/MachineProfile.h"

#include "tools/talc/bench/ModelRun.h"
#include "tools/talc/bench/OpTest.h"

#include <algorithm>
#include <limits>

namespace talc::bench {

DeviceDescription describeDevice(const std::string &device) {
  for (const DeviceInfo &facts : listDevices())
    if (facts.name == device)
      return {facts.description, facts.emulation};
  return {};
}

namespace {

// An op that is timed on a GPU.
class Chain {
public:
  // Runs the op on more and more rows, up to its own number, until it takes long enough.
  Status open(const BenchOptions &options, const std::string &target, OpSpec op);
  // Runs the op again.
  Status measure();
  double operationsPerSecond() const { return costs.operations / seconds; }
  double bytesPerSecond() const { return costs.bytes() / seconds; }
  std::string device() const { return run.device(); }

private:
  static constexpr double enough = 1e-3;  // seconds

  Status evaluate();

  OpSpec spec;
  CompiledOp compiled;
  KernelList list;
  ModelRun run;
  StepCosts costs;
  double seconds = 0;
};

Status Chain::open(const BenchOptions &options, const std::string &target, OpSpec op) {
  spec = std::move(op);
  BenchOptions chainOptions = options;
  chainOptions.target = target;
  chainOptions.weights.clear();
  if (std::string error = compiled.compile(spec, chainOptions, "mlir"); !error.empty())
    return Status::failure(TALC_ERROR_DEVICE, "talc bench: no code to measure the GPU with: %s", error.c_str());
  if (Status status = readKernels(compiled.path(), list); status.failed())
    return status;
  if (Status status = run.open(compiled.path(), false, options.device); status.failed())
    return status;
  if (Status status = run.start(1, 1); status.failed())
    return status;
  const int64_t maxRows = spec.rows;
  for (spec.rows = 16; spec.rows <= maxRows; spec.rows *= 2)
    if (Status status = measure(); status.failed() || seconds >= enough)
      return status;
  spec.rows = maxRows;
  return {};
}

Status Chain::measure() {
  KernelTimes times(1, list.kernels.size());
  times.attach(run.getSession());
  Status status = evaluate();
  times.detach(run.getSession());
  return status;
}

Status Chain::evaluate() {
  const StepShape step = opStep(spec, list);
  const PhaseResult phase = countKernels(list, step, spec.text);
  const KernelResult *opKernel = findKernel(phase, spec);
  if (Status status = run.fill(0); status.failed())
    return status;
  if (Status status = run.evaluate(step); status.failed())
    return status;
  for (const LaunchTime &launch : run.getSession().launchTimes())
    if (opKernel && launch.kernel == opKernel->kernel - list.kernels.data()) {
      costs = opKernel->costs;
      seconds = std::max(launch.end - launch.begin, 1e-9);
      return {};
    }
  return Status::failure(TALC_ERROR_DEVICE, "talc bench: %s times no kernels", run.device().c_str());
}

class GpuMachine final : public Machine {
public:
  Status open(const BenchOptions &options, const std::string &target);
  double operationsPerSecond() override { return 2 * rateNow(computing, &Chain::operationsPerSecond); }
  double bytesPerSecond(double) override { return rateNow(moving, &Chain::bytesPerSecond); }

private:
  // Returns the last rate if the GPU fails; then the test fails, too.
  static double rateNow(Chain &chain, double (Chain::*rate)() const) {
    (void)chain.measure();
    return (chain.*rate)();
  }

  // Emulators and drivers that run on the CPU are left out: they have no such instructions and would take minutes.
  Status measureMatrices(const BenchOptions &options, const std::string &target);

  Chain computing, moving;
};

constexpr int rounds = 5;

Status GpuMachine::open(const BenchOptions &options, const std::string &target) {
  constexpr int64_t width = 4096, pairs = 256, wide = 16384;
  if (Status status = computing.open(options, target, makeChainOp(width, pairs)); status.failed())
    return status;
  if (Status status = moving.open(options, target, makeChainOp(wide, 0)); status.failed())
    return status;
  const DeviceDescription nature = describeDevice(computing.device());
  best.device = computing.device();
  best.processor = nature.description + (nature.emulation.empty() ? "" : " (" + nature.emulation + ", no GPU)");
  best.levels = {{"memory", std::numeric_limits<double>::infinity(), 0}};
  best.peaks = {{"FMA", {}, "f32, an addition for a multiply-add", 0}};
  for (int round = 0; round < rounds; ++round) {
    best.peaks[0].operationsPerSecond = std::max(best.peaks[0].operationsPerSecond, operationsPerSecond());
    best.levels[0].bytesPerSecond = std::max(best.levels[0].bytesPerSecond, bytesPerSecond(0));
  }
  return nature.emulation.empty() ? measureMatrices(options, target) : Status();
}

Status GpuMachine::measureMatrices(const BenchOptions &options, const std::string &target) {
  for (const char *format : {"bf16", "f16"}) {
    OpSpec op;
    Chain matmul;
    if (!parseOp(std::string("linear 4096x4096x4096 ") + format, 0, op).empty())
      return Status::failure(TALC_ERROR_DEVICE, "talc bench: no op to measure the GPU's tensor cores with");
    if (Status status = matmul.open(options, target, std::move(op)); status.failed())
      return status;
    double maxRate = 0;
    for (int round = 0; round < rounds; ++round)
      maxRate = std::max(maxRate, rateNow(matmul, &Chain::operationsPerSecond));
    if (maxRate > best.f32().operationsPerSecond)
      best.peaks.push_back({std::string("MMA ") + format, {}, "a matmul of 4096 x 4096", maxRate, format});
  }
  return {};
}

}  // namespace

Status measureGpu(const BenchOptions &options, const std::string &target, std::unique_ptr<Machine> &machine) {
  auto gpu = std::make_unique<GpuMachine>();
  if (Status status = gpu->open(options, target); status.failed())
    return status;
  machine = std::move(gpu);
  return {};
}

}  // namespace talc::bench
