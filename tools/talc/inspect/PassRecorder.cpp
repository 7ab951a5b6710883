// SPDX-License-Identifier: Apache-2.0
// Prints the functions after each pass and keeps the texts that differ from those before. Values are numbered function
// by function, so that a change in one does not show in others, and keep their names from pass to pass.
#include "tools/talc/inspect/PassRecorder.h"

#include "tools/talc/inspect/ModelGraph.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <set>

namespace talc::tools {

class PassRecorder::Teller : public mlir::PassInstrumentation {
public:
  explicit Teller(PassRecorder &recorder) : recorder(recorder) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override {
    if (concerns(pass, op))
      recorder.begin(pass->getArgument(), pass->getDescription());
  }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    if (concerns(pass, op))
      recorder.end(llvm::cast<mlir::ModuleOp>(op), false);
  }
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override {
    if (concerns(pass, op))
      recorder.end(llvm::cast<mlir::ModuleOp>(op), true);
  }

private:
  // Passes over the module, which the pipeline consists of; those without a description only divide it into stages.
  static bool concerns(mlir::Pass *pass, mlir::Operation *op) {
    return !op->getParentOp() && !pass->getDescription().empty();
  }

  PassRecorder &recorder;
};

void PassRecorder::watch(mlir::PassManager &passes) {
  passes.addInstrumentation(std::make_unique<Teller>(*this));
}

void PassRecorder::addRemark(std::string line) {
  if (!records.empty())
    records.back().remarks.push_back(std::move(line));
}

void PassRecorder::addImport(mlir::ModuleOp module) {
  nameOrigins(module);
  functions = readGraph(module);
  modelFacts.parameters = countParameters(module);
  stage = "import";
  begin("import", "the program as the frontend makes it");
  end(module, false);
}

void PassRecorder::begin(llvm::StringRef name, llvm::StringRef summary) {
  records.push_back({stage, name.str(), summary.str(), 0, false, {}, {}});
  started = Clock::now();
}

void PassRecorder::compare(const std::string &function, const std::string &printed) {
  Version &version = current[function];
  if (version.text >= 0 && version.printed == printed)
    return;
  std::string before = version.text < 0 ? "" : allTexts[version.text];
  StableNames::Text named = version.names.follow(before, printed);
  version.printed = printed;
  if (version.text >= 0 && named.text == before)
    return;
  allTexts.push_back(std::move(named.text));
  int after = static_cast<int>(allTexts.size()) - 1;
  records.back().changes.push_back({function, version.text, after, std::move(named.same)});
  version.text = after;
}

void PassRecorder::addListing(const char *name, const char *summary, const std::vector<targets::CodeListing> &listings,
                              std::string targets::CodeListing::*text) {
  begin(name, summary);
  for (const targets::CodeListing &listing : listings) {
    allTexts.push_back(listing.*text);
    records.back().changes.push_back({listing.function, -1, static_cast<int>(allTexts.size()) - 1, {}});
  }
}

void PassRecorder::addListings(const std::vector<targets::CodeListing> &listings, double seconds) {
  if (listings.empty())
    return;
  stage = "package";
  addListing("llvm-ir", "optimized LLVM IR of every function", listings, &targets::CodeListing::llvmIr);
  addListing("assembly", "what the processor runs; registers that LLVM had no room for are marked", listings,
             &targets::CodeListing::assembly);
  records.back().seconds = seconds;
  for (const targets::CodeListing &listing : listings)
    if (!listing.resources.empty())
      addRemark("package: assembly: " + listing.function + ": " + listing.resources);
  for (const targets::CodeListing &listing : listings)
    if (listing.spills > 0)
      addRemark("package: assembly: " + listing.function + ": " + std::to_string(listing.spills) +
                " times a register is kept on the stack for want of another");
}

static std::string print(mlir::Operation &op, const mlir::OpPrintingFlags &flags) {
  mlir::AsmState state(&op, flags);
  std::string text;
  llvm::raw_string_ostream stream(text);
  op.print(stream, state);
  return text + "\n";
}

// The attributes of a module, one per line.
static std::string printAttributes(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (mlir::NamedAttribute attribute : module->getAttrs())
    stream << attribute.getName().strref() << " = " << attribute.getValue() << "\n";
  return text;
}

void PassRecorder::end(mlir::ModuleOp module, bool failed) {
  records.back().seconds = std::chrono::duration<double>(Clock::now() - started).count();
  records.back().failed = failed;
  mlir::OpPrintingFlags flags;
  flags.useLocalScope();  // names of types and attributes depend on the whole module
  if (!failed)
    flags.assumeVerified();
  flags.printUniqueSSAIDs();
  updateFacts(module, modelFacts);
  if (records.back().name == "mark-kernels")
    uses = readKernelUses(module);
  std::string others = printAttributes(module);
  std::set<std::string> present = {"module"};
  for (mlir::Operation &op : *module.getBody())
    if (auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op)) {
      present.insert(function.getName().str());
      compare(function.getName().str(), print(op, flags));
    } else {
      others += print(op, flags);
    }
  compare("module", others);
  for (auto at = current.begin(); at != current.end();) {
    bool gone = !present.count(at->first);
    if (gone)
      records.back().changes.push_back({at->first, at->second.text, -1, {}});
    at = gone ? current.erase(at) : std::next(at);
  }
}

}  // namespace talc::tools
