// SPDX-License-Identifier: Apache-2.0
// The measurements of talc bench: apps in turn, the kernels of one app, or an op.
#pragma once

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/MachineUse.h"
#include "tools/talc/bench/ModelRun.h"
#include "tools/talc/bench/OpTest.h"
#include "tools/talc/bench/Progress.h"
#include "tools/talc/bench/Reports.h"

namespace talc::bench {

// Holds all results for the tables.
class Measurement {
public:
  const BenchOptions &options;
  std::vector<std::unique_ptr<App>> apps;
  std::vector<ModelTableRow> models;
  std::vector<KernelTable> kernels;
  Progress progress;
  MachineUseMeter meter;

  explicit Measurement(const BenchOptions &options) : options(options) {}
  // An app whose work can only be counted here needs no code that runs.
  Status open(const std::string &path);
  App &app() { return *apps.front(); }
  bool onlyCounts() const { return !apps.front()->list.foreign.empty(); }

  Status measure(const std::vector<TestCase> &tests, int32_t threads);
  Status measure(const OpSpec &spec, int32_t threads, OpResult &result);
  // Counts work instead of measuring it.
  Status count(const std::vector<PhaseResult> &phases, std::string &text);

  // Adds notes below the table, or prints them to standard error if the output is for programs.
  void addNotes(std::string &text) const;
  // Writes the roofline if the options ask for it.
  Status drawKernels() const;

private:
  Status openOnDevice(App &app);
  Status createMachine(int32_t threads, std::unique_ptr<Machine> &machine);
  Status prove(std::string &proof);
  Status measureModels(const TestCase &test, Machine &machine);
  Status measureKernels(const TestCase &test, const Machine &machine);
  bool someShareExceeds() const;
};

// Runs one token of an app for another architecture under an emulator, and describes the outcome. Fails if the app
// fails; without an emulator, and for a GPU, nothing runs.
Status emulateToken(const App &app, std::string &outcome);

}  // namespace talc::bench
