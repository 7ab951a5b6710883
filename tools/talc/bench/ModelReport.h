// SPDX-License-Identifier: Apache-2.0
// Prints whole-model results as a table for people (md) or with llama-bench's field names (csv, json).
#pragma once

#include "tools/talc/bench/App.h"
#include "tools/talc/bench/ModelTests.h"

namespace talc::bench {

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

}  // namespace talc::bench
