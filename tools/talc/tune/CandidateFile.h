// SPDX-License-Identifier: Apache-2.0
// A model compiled with several plans: one artifact, whose weights all candidates share, with code for each.
#pragma once

#include "tools/talc/CompileOptions.h"
#include "tools/talc/bench/ModelRun.h"

#include <string>
#include <vector>

namespace talc::tools {

class CandidateFile {
public:
  CandidateFile() = default;
  CandidateFile(const CandidateFile &) = delete;
  CandidateFile &operator=(const CandidateFile &) = delete;
  ~CandidateFile();

  // The first candidate has the cost model's plans, the others those of `plans` (Target::checkPlans). Empty on success,
  // else finished lines of text.
  std::string compile(const CompileOptions &options, const std::vector<std::string> &plans);
  const std::string &path() const { return file; }

  // Opens a candidate: a view of the file, in which code of those before it is for machines that do not exist. The view
  // must outlive the run.
  static Status open(const std::string &path, size_t candidate, Mapping &view, bench::ModelRun &run);

private:
  std::string file;
};

}  // namespace talc::tools
