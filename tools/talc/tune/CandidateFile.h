// SPDX-License-Identifier: Apache-2.0
// An artifact of one model with code for several plans. All candidates share its weights.
#pragma once

#include "compiler/TemporaryDirectory.h"
#include "tools/talc/CompileOptions.h"
#include "tools/talc/bench/ModelRun.h"

#include <string>
#include <vector>

namespace talc::tools {

class CandidateFile {
public:
  // The first candidate has the cost model's plans, the others those of `plans` (Target::checkPlans). Returns an empty
  // text on success, else complete lines of an error.
  std::string compile(const CompileOptions &options, const std::vector<std::string> &plans);
  const std::string &path() const { return file; }

  // Opens these candidates on a device, in ascending order, each with a run of its own. All share a view of the file,
  // which must outlive them.
  Status open(const std::vector<size_t> &candidates, const std::string &device, std::vector<bench::ModelRun> &runs);

private:
  Status map();
  Status hideCode(size_t candidate);

  std::unique_ptr<TemporaryDirectory> directory;
  std::string file;
  Mapping view;
};

}  // namespace talc::tools
