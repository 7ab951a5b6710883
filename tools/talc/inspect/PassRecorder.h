// SPDX-License-Identifier: Apache-2.0
// Records how every pass changes every function, for `talc compile --inspect`.
#pragma once

#include "compiler/targets/ObjectCode.h"
#include "tools/talc/inspect/KernelUses.h"
#include "tools/talc/inspect/ModelFacts.h"
#include "tools/talc/inspect/ModelGraph.h"
#include "tools/talc/inspect/StableNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace talc::tools {

class PassRecorder {
public:
  struct Change {
    std::string function;         // or "module": its attributes and everything beside functions
    int before = 0, after = 0;    // indices of texts; -1: the function does not exist
    std::vector<SameLines> same;  // lines of both texts that are equal but for names
  };
  struct PassRecord {
    std::string stage, name, summary;
    double seconds = 0;
    bool failed = false;
    std::vector<Change> changes;
    std::vector<std::string> remarks;
  };

  void beginStage(llvm::StringRef name) { stage = name.str(); }
  // Adds a remark of the pass that is running.
  void addRemark(std::string line);
  // Adds the program before the first pass, and names its operations for later ones (OpOrigins.h).
  void addImport(mlir::ModuleOp module);
  // Adds the listings of the last stage, which took this long.
  void addListings(const std::vector<targets::CodeListing> &listings, double seconds);
  // Records all passes of a manager, which the recorder must outlive.
  void watch(mlir::PassManager &passes);

  const std::vector<PassRecord> &passes() const { return records; }
  const std::vector<std::string> &texts() const { return allTexts; }
  // The imported model.
  const std::vector<GraphFunction> &graph() const { return functions; }
  // Empty if the pass mark-kernels did not run.
  const std::vector<KernelUse> &kernelUses() const { return uses; }
  // Each fact as the last pass that stated it left it.
  const ModelFacts &facts() const { return modelFacts; }

private:
  using Clock = std::chrono::steady_clock;
  class Teller;

  // The last version of a function.
  struct Version {
    std::string printed;  // with MLIR's names
    int text = -1;
    StableNames names;
  };

  void begin(llvm::StringRef name, llvm::StringRef summary);
  void end(mlir::ModuleOp module, bool failed);
  void compare(const std::string &function, const std::string &printed);
  void addListing(const char *name, const char *summary, const std::vector<targets::CodeListing> &listings,
                  std::string targets::CodeListing::*text);

  std::string stage;
  Clock::time_point started;
  std::vector<PassRecord> records;
  std::vector<std::string> allTexts;
  std::map<std::string, Version> current;
  std::vector<GraphFunction> functions;
  std::vector<KernelUse> uses;
  ModelFacts modelFacts;
};

}  // namespace talc::tools
