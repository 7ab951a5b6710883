// SPDX-License-Identifier: Apache-2.0
// Measures the machine first, for every number of threads. An app for another architecture runs one token under
// qemu-user, by its own command line.
#include "tools/talc/bench/Measurement.h"

#include "tools/talc/bench/MachineProfile.h"
#include "tools/talc/bench/Reports.h"
#include "tools/talc/inspect/InspectPage.h"

#include "llvm/Support/Program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace talc::bench {

Status Measurement::open(const std::string &path) {
  apps.push_back(std::make_unique<App>());
  App &app = *apps.back();
  app.path = path;
  if (Status status = readKernels(path, app.list); status.failed())
    return status;
  if (!options.device.empty())
    return openOnDevice(app);
  if (app.list.foreign.empty()) {
    Status status = app.run.open(path, options.hugePages);
    if (!status.failed())
      app.list.choose(app.run.target());
    return status;
  }
  if (apps.size() == 1 && options.roofline.empty() && (options.kernels || !options.op.empty()))
    return {};
  return Status::failure(TALC_ERROR_CPU,
                         "%s: has code for %s, which this machine cannot time; --kernels counts what "
                         "it does",
                         path.c_str(), app.list.machine().c_str());
}

// Times under an emulator mean nothing, so its work is only counted.
Status Measurement::openOnDevice(App &app) {
  if (Status status = app.run.open(app.path, options.hugePages, options.device); status.failed())
    return status;
  app.list.choose(app.run.target());
  app.list.target = app.run.target();
  app.list.foreign = "";
  if (describeDevice(app.run.device()).emulation != "emulated")
    return {};
  if ((!options.kernels && options.op.empty()) || !options.roofline.empty())
    return Status::failure(TALC_ERROR_DEVICE,
                           "%s: %s is emulated, where time means nothing; --kernels counts what runs", app.path.c_str(),
                           app.run.device().c_str());
  app.list.foreign = app.run.device();
  return {};
}

static std::vector<double> computeRatios(const TestResult &first, const TestResult &other) {
  std::vector<double> ratios;
  for (size_t i = 0; i < other.nanoseconds.size(); ++i)
    ratios.push_back(first.nanoseconds[i] / other.nanoseconds[i]);
  return ratios;
}

// Runs all apps in every round, so that other load affects all of them; every other round runs backwards.
Status Measurement::measureModels(const TestCase &test, Machine &machine) {
  std::vector<ModelTest> turns;
  for (auto &app : apps) {
    if (Status status = app->run.start(test.threads, test.sequences); status.failed())
      return status;
    turns.emplace_back(app->run, app->list, test, machine);
  }
  for (int64_t round = 0; round <= options.repetitions; ++round)
    for (size_t i = 0; i < turns.size(); ++i)
      if (Status status = turns[round % 2 == 0 ? i : turns.size() - 1 - i].repeat(); status.failed())
        return status;
  for (size_t i = 0; i < turns.size(); ++i)
    models.push_back({turns[i].result(), machine.profile(), apps[i].get(),
                      computeRatios(turns.front().result(), turns[i].result())});
  return {};
}

// Runs all apps, each with a table of its own for this number of threads.
Status Measurement::measureKernels(const TestCase &test, const Machine &machine) {
  for (size_t i = 0; i < apps.size(); ++i) {
    App &app = *apps[i];
    if (Status status = app.run.start(test.threads, test.sequences); status.failed())
      return status;
    KernelTable &table = kernels[kernels.size() - apps.size() + i];
    table.phases.emplace_back();
    if (Status status =
            runKernelTest(app.run, app.list, machine.profile(), test, options.repetitions, table.phases.back());
        status.failed())
      return status;
  }
  return {};
}

Status Measurement::createMachine(int32_t threads, std::unique_ptr<Machine> &machine) {
  if (options.device.empty()) {
    progress.show("the machine", threads);
    return Machine::create(threads, machine);
  }
  progress.show("the GPU");
  return measureGpu(options, app().run.target(), machine);
}

Status Measurement::measure(const std::vector<TestCase> &tests, int32_t threads) {
  std::unique_ptr<Machine> machine;
  if (Status status = createMachine(threads, machine); status.failed())
    return status;
  for (const auto &app : apps)
    kernels.push_back({machine->profile(), {}, apps.size() > 1 ? app->path : ""});
  for (TestCase test : tests) {
    test.threads = threads;
    progress.show(test.name(), threads);
    Status status = options.showsKernels() ? measureKernels(test, *machine) : measureModels(test, *machine);
    if (status.failed())
      return status;
  }
  return {};
}

Status Measurement::measure(const OpSpec &spec, int32_t threads, OpResult &result) {
  std::unique_ptr<Machine> machine;
  if (Status status = createMachine(threads, machine); status.failed())
    return status;
  PhaseResult counted = countKernels(app().list, opStep(spec, app().list), spec.text);
  if (const KernelResult *opKernel = findKernel(counted, spec))
    machine->measureAt(opKernel->costs.bytes());
  progress.show(spec.text, threads);
  std::vector<OpBaseline> baselines;
  for (size_t i = 1; i < apps.size(); ++i)
    baselines.push_back({options.generators[i], apps[i]->run, apps[i]->list});
  if (Status status = runOp(app().run, app().list, spec, machine->profile(), baselines, options.repetitions, result);
      status.failed())
    return status;
  kernels.push_back({machine->profile(), {result.phase(app().list)}});
  return {};
}

// Runs one token, to prove that the counted code works.
Status Measurement::prove(std::string &proof) {
  progress.show("a token under the emulator");
  if (options.device.empty())
    return emulateToken(app(), proof);
  ModelRun &run = app().run;
  proof = "a token ran on " + run.device() + ", " + describeDevice(run.device()).description;
  if (Status status = run.start(1, 1); status.failed())
    return status;
  if (Status status = run.fill(0); status.failed())
    return status;
  return run.evaluate({1, 1, 0, true, app().list.encoder});
}

Status Measurement::count(const std::vector<PhaseResult> &phases, std::string &text) {
  std::string proof;
  if (Status status = prove(proof); status.failed())
    return status;
  text = formatCounts(phases, app().list, proof, options.output);
  return {};
}

bool Measurement::someShareExceeds() const {
  for (const ModelTableRow &row : models)
    if (exceeds(row.result.roofShare()) || exceeds(row.result.peakShare()) || exceeds(row.result.readShare()))
      return true;
  for (const KernelTable &row : kernels)
    for (const PhaseResult &phase : row.phases) {
      if (exceeds(phase.share()))
        return true;
      for (const KernelResult &kernel : phase.kernels)
        if (exceeds(kernel.share()))
          return true;
    }
  return false;
}

void Measurement::addNotes(std::string &text) const {
  std::string notes = usageNotes(meter.read(), someShareExceeds());
  for (const ModelTableRow &row : models)
    if (const TestResult &result = row.result; result.stepThreads < 0.95 * result.test.threads)
      notes += fmt::format("\n{}{} with {} threads: steps ran on {:.1f} of them, since more did not pay.\n",
                           apps.size() > 1 ? row.app->path + ", " : "", result.test.name(), result.test.threads,
                           result.stepThreads);
  if (options.output == "md")
    text += notes;
  else
    fputs(notes.c_str(), stderr);
}

static Status writeFile(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file)
    return {};
  return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

Status Measurement::drawKernels() const {
  const std::string &path = options.roofline, &title = apps.front()->list.model;
  if (path.empty())
    return {};
  nlohmann::ordered_json data = describeRoofline(kernels, title);
  auto hasEnding = [&](std::string_view ending) {
    return path.size() >= ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  };
  return writeFile(path, hasEnding(".json")   ? tools::renderJson(data)
                         : hasEnding(".html") ? tools::renderPage(data, title)
                                              : tools::renderPicture(data));
}

Status emulateToken(const App &app, std::string &outcome) {
  if (app.list.target.empty()) {
    outcome = "nothing ran, which --device would do on such a GPU";
    return {};
  }
  std::string emulator = "qemu-" + app.list.foreign;
  std::replace(emulator.begin() + 5, emulator.end(), '-', '_');  // x86-64 is qemu-x86_64
  auto program = llvm::sys::findProgramByName(emulator);
  if (!program) {
    outcome = emulator + " is not installed, so nothing ran";
    return {};
  }
  std::vector<llvm::StringRef> arguments = {*program, app.path, "-q", "-t", "1", "--ids", "0"};
  if (!app.list.encoder)
    arguments.insert(arguments.end(), {"-n", "1"});
  std::optional<llvm::StringRef> nothing = llvm::StringRef();  // /dev/null
  std::string reason;
  int status =
      llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, {nothing, nothing, std::nullopt}, 0, 0, &reason);
  if (status != 0)
    return Status::failure(TALC_ERROR_CPU, "%s: fails under %s: %s", app.path.c_str(), emulator.c_str(),
                           reason.empty() ? ("exit status " + std::to_string(status)).c_str() : reason.c_str());
  outcome = "a token ran under " + emulator;
  return {};
}

}  // namespace talc::bench
