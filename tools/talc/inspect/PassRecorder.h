// SPDX-License-Identifier: Apache-2.0
// What every pass made of every function, for the page of `talc compile --inspect`.
#pragma once

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
    std::string function;       // or "module": its attributes, and what else stands beside functions
    int before = 0, after = 0;  // texts; -1: the function does not exist
  };
  struct PassRecord {
    std::string stage, name, summary;
    double seconds = 0;
    bool failed = false;
    std::vector<Change> changes;
    std::vector<std::string> remarks;
  };

  void beginStage(llvm::StringRef name) { stage = name.str(); }
  // Of the pass that is running.
  void addRemark(std::string line);
  // The program before the first pass.
  void addImport(mlir::ModuleOp module);
  // Records all passes of a manager; the recorder has to live as long.
  void watch(mlir::PassManager &passes);

  const std::vector<PassRecord> &passes() const { return records; }
  const std::vector<std::string> &texts() const { return allTexts; }

private:
  using Clock = std::chrono::steady_clock;
  class Teller;

  void begin(llvm::StringRef name, llvm::StringRef summary);
  void end(mlir::ModuleOp module, bool failed);
  void compare(const std::string &function, const std::string &text);

  std::string stage;
  Clock::time_point started;
  std::vector<PassRecord> records;
  std::vector<std::string> allTexts;
  std::map<std::string, int> current;  // the text of every function
};

}  // namespace talc::tools
