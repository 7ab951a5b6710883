// SPDX-License-Identifier: Apache-2.0
// Prints what was measured, or only counted, of models and kernels: tables for people (md) or records with
// llama-bench's field names (csv, json, jsonl, sql).
#pragma once

#include "tools/talc/bench/KernelTests.h"
#include "tools/talc/bench/ModelRun.h"
#include "tools/talc/bench/ModelTests.h"

#include <nlohmann/json.hpp>

namespace talc::bench {

struct KernelTable {
  MachineProfile machine;
  std::vector<PhaseResult> phases;
};

// `format`: md or one of formatRecords.
std::string formatKernelRows(const std::vector<KernelTable> &rows, const std::string &format);

// `proof`: what came of running the app under an emulator. `format`: md or one of formatRecords.
std::string formatCounts(const std::vector<PhaseResult> &phases, const KernelList &list, const std::string &proof,
                         const std::string &format);

struct ModelTableRow {
  TestResult result;
  MachineProfile machine;  // measured for the same number of threads
  const App *app;
  // Its speed beside that of the first app in the same round, of each round.
  std::vector<double> ratios;

  // The memory level that holds what one step reads.
  const MemoryLevel &level() const { return machine.levelHolding(result.maxStepStoredBytes); }
};

// `format`: md or one of formatRecords. Ratios are printed if there are several apps.
std::string formatModelRows(const std::vector<ModelTableRow> &rows, const std::string &format);

// The kernels below the roofs of the machine, as docs/inspect.md describes it: one panel for every number of threads.
nlohmann::ordered_json describeRoofline(const std::vector<KernelTable> &tables, const std::string &title);

}  // namespace talc::bench
