// SPDX-License-Identifier: Apache-2.0
// Prints the functions after each pass and keeps the texts that differ from those before. Values are numbered function
// by function, so that a change in one does not show in others, and keep their names from pass to pass.
#include "tools/talc/inspect/PassRecorder.h"

#include "dialects/talc/TalcDialect.h"
#include "tools/talc/inspect/OpOrigins.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <fmt/format.h>

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

// What recipes add does not count.
static int64_t countParameters(mlir::ModuleOp module) {
  int64_t count = 0;
  for (auto weight : module.getOps<WeightOp>())
    if (auto type = llvm::dyn_cast<mlir::ShapedType>(weight.getType()); type && !weight.getOfAttr())
      count += type.getNumElements();
  return count;
}

void PassRecorder::addImport(mlir::ModuleOp module) {
  nameOrigins(module);
  functions = readGraph(module);
  parameterCount = countParameters(module);
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

void PassRecorder::addFact(const std::string &name, mlir::Attribute value) {
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(value))
    moduleFacts[name] = text.str();
  else if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(value))
    moduleFacts[name] = std::to_string(number.getValue().getSExtValue());
  else if (auto real = llvm::dyn_cast<mlir::FloatAttr>(value))
    moduleFacts[name] = fmt::format("{}", real.getValueAsDouble());
  else if (auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(value))
    for (mlir::NamedAttribute entry : dictionary)
      addFact(name + "." + entry.getName().str(), entry.getValue());
  else if (auto list = llvm::dyn_cast<mlir::ArrayAttr>(value))
    for (auto [place, entry] : llvm::enumerate(list))
      addFact(name + "." + std::to_string(place), entry);
}

void PassRecorder::end(mlir::ModuleOp module, bool failed) {
  records.back().seconds = std::chrono::duration<double>(Clock::now() - started).count();
  records.back().failed = failed;
  mlir::OpPrintingFlags flags;
  flags.useLocalScope();  // names of types and attributes depend on the whole module
  if (!failed)
    flags.assumeVerified();
  flags.printUniqueSSAIDs();
  for (mlir::NamedAttribute attribute : module->getAttrs())
    addFact(attribute.getName().str(), attribute.getValue());
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
