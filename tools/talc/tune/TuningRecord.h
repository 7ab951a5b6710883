// SPDX-License-Identifier: Apache-2.0
// What talc tune found, and talc compile goes by: a file with a JSON object per line, one for every kernel and
// processor.
//
//   {"kernel": "5f0c...", "name": "matmul_3", "target": "x86_64... znver4 ...", "processor": "AMD EPYC", "threads":
//   1,
//    "plan": {"tile_rows": 12}, "confirmed": true, "tried": 14, "ratios": {"8 rows": 0.91}, ...}
//
// Files are merged by joining them: of several lines for the same kernel the one counts that tried the most, and of
// these the last. Lines that talc does not understand stay where they are and are told of.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace talc::tools {

// The tuned plan of one kernel on the machine that measured it.
struct TuningEntry {
  std::string kernel, name;       // its digest (PlanText.h), and what the model's program calls it
  std::string target, processor;  // Target::identity, and the processor as people call it
  int64_t threads = 1;
  std::map<std::string, int64_t> plan;  // numbers that differ from the cost model's
  bool confirmed = false;               // measured once more after it was chosen
  int64_t tried = 0;                    // candidates, of a list that is the same each time
  nlohmann::ordered_json figures;       // for people: everything else
};

class TuningRecord {
public:
  // A file that is not there is empty. `notes`: lines for the user on what is ignored. Returns what went wrong.
  std::string read(const std::string &path, std::vector<std::string> &notes);
  // Writes a new file that takes the place of the old one.
  std::string write(const std::string &path) const;

  // Null: there is none.
  const TuningEntry *find(const TuningEntry &wanted) const;
  void put(const TuningEntry &line);

  // The confirmed plans for a target, as Target::checkPlans takes them.
  std::string planOverridesFor(const std::string &target) const;
  // The processors that have plans here, where none of these targets was tuned; else empty.
  std::string foreignProcessors(llvm::ArrayRef<std::string> targets) const;

private:
  std::vector<TuningEntry> lines;
  std::vector<std::string> others;  // kept as they are
};

// Returns the default path of a model's record: in its directory, or beside its file.
std::string defaultTuningRecord(const std::string &model);

}  // namespace talc::tools
