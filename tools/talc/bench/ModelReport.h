// SPDX-License-Identifier: Apache-2.0
// Prints whole-model results as a table for people (md) or with llama-bench's field names (csv, json).
#pragma once

#include "tools/talc/bench/ModelTests.h"

namespace talc::bench {

struct ModelRow {
  TestResult result;
  MachineProfile machine;  // measured for the same number of threads

  // The memory level that holds what one step reads.
  const MemoryLevel &level() const { return machine.levelOf(result.stepStoredBytes); }
};

// `format`: md, csv or json; `file`: the artifact.
std::string formatModelRows(const std::vector<ModelRow> &rows, const KernelList &kernels, const ModelRun &run,
                            const std::string &file, const std::string &format);

}  // namespace talc::bench
