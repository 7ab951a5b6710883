// SPDX-License-Identifier: Apache-2.0
// The tuning record, which talc tune writes and talc compile reads: a file with a JSON object per line, for every
// kernel and CPU.
//
//   {"kernel": "5f0c...", "name": "matmul_3", "target": "x86_64... znver4 ...", "processor": "AMD EPYC", "threads":
//   1,
//    "plan": {"tile_rows": 12}, "confirmed": true, "tried": 14, "ratios": {"8 rows": 0.91}, ...}
//
// Files are merged by joining their lines: of several lines for a kernel the one with the most tries counts, and the
// last of equals. Lines that talc does not understand are kept and reported. Nobody has to name the record beside a
// model, which may be a stranger's: talc reads it only if it is the user's own (NamedBy::Talc).
#pragma once

#include "frontends/NamedFile.h"

#include <llvm/ADT/ArrayRef.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace talc::tools {

// The tuned plan of one kernel on the machine that measured it.
struct TuningEntry {
  std::string kernel, name;       // its digest (PlanText.h), and its name in the program
  std::string target, processor;  // Target::identity, and the name of the CPU
  int64_t threads = 1;
  std::map<std::string, int64_t> plan;  // parameters that differ from the cost model's
  bool confirmed = false;               // measured again after it was chosen
  int64_t tried = 0;                    // candidates, of a list that is always the same
  nlohmann::ordered_json figures;       // everything else, for people
};

class TuningRecord {
public:
  // A missing file is an empty record. `notes` are lines for the user about ignored lines. Returns an error or an empty
  // text.
  std::string read(const std::string &path, NamedBy namedBy, std::vector<std::string> &notes);
  // Replaces the file.
  std::string write(const std::string &path) const;

  // Returns null if there is none.
  const TuningEntry *find(const TuningEntry &entry) const;
  void put(const TuningEntry &line);

  // Returns the confirmed plans for a target in the form of Target::checkPlans.
  std::string planOverridesFor(const std::string &target) const;
  // Returns the CPUs that have plans here if none of these targets was tuned; else an empty text.
  std::string foreignProcessors(llvm::ArrayRef<std::string> targets) const;

private:
  using Key = std::tuple<std::string, std::string, int64_t>;
  static Key makeKey(const TuningEntry &entry) { return {entry.kernel, entry.target, entry.threads}; }

  std::vector<TuningEntry> lines;
  std::map<Key, size_t> places;     // of lines
  std::vector<std::string> others;  // kept as they are
};

// Returns the default path of a model's record: in its directory, or beside its file.
std::string defaultTuningRecord(const std::string &model);

}  // namespace talc::tools
