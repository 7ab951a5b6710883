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
  std::string app = "";  // its path, if there are several
};

// `format` is md, with a line for each column unless `legend` is false, or one of formatRecords.
std::string formatKernelRows(const std::vector<KernelTable> &rows, const std::string &format, bool legend);

// `proof` describes the run of the app under an emulator. `format` is md or one of formatRecords.
std::string formatCounts(const std::vector<PhaseResult> &phases, const KernelList &list, const std::string &proof,
                         const std::string &format);

struct ModelTableRow {
  TestResult result;
  MachineProfile machine;  // measured for the same number of threads
  const App *app;
  // The speed relative to the first app in the same round, for each round.
  std::vector<double> ratios;

  // The memory level that holds the data of a step.
  const MemoryLevel &level() const { return machine.levelHolding(result.maxStepStoredBytes); }
};

// `format` is md, with a line for each column unless `legend` is false, or one of formatRecords. Ratios are printed if
// there are several apps.
std::string formatModelRows(const std::vector<ModelTableRow> &rows, const std::string &format, bool legend);

// The kernels below the roofs of the machine, as docs/inspect.md describes it: one panel for every number of threads.
nlohmann::ordered_json describeRoofline(const std::vector<KernelTable> &tables, const std::string &title);

}  // namespace talc::bench
