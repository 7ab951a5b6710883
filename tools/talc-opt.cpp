// SPDX-License-Identifier: Apache-2.0
// talc-opt: runs single passes, or whole stages as --talc-<stage>, on .mlir files, with all of mlir-opt's flags.
#include "compiler/Pipeline.h"
#include "compiler/passes/RegisterPasses.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

static constexpr llvm::StringLiteral overview =
    R"(talc's pass driver: single passes, or whole stages as --talc-STAGE, with all flags of mlir-opt

Examples:
  talc-opt model.mlir --merge-projections
  talc-opt model.mlir --talc-optimize --talc-lower
  talc-opt model.mlir --talc-optimize --mlir-print-ir-after-all --mlir-print-ir-after-change
  talc compile model.mlir -o app --inspect=app.html    a page of all passes
)";

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &stream) { stream << "talc-opt " TALC_VERSION "\n"; });
  mlir::registerAllPasses();
  talc::registerTalcPasses();
  auto target = talc::targets::parseTarget("x86-64-v3");
  if (!target) {
    llvm::errs() << llvm::toString(target.takeError()) << "\n";
    return 1;
  }
  for (talc::Stage stage : talc::allStages) {
    if (stage == talc::Stage::Import || stage == talc::Stage::Package)
      continue;
    std::string name = ("talc-" + talc::stageName(stage)).str();
    mlir::registerPassPipeline(
        name, "talc's stage " + talc::stageName(stage).str(),
        [stage, &target](mlir::OpPassManager &passes, llvm::StringRef,
                         llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>) {
          talc::addStage(passes, stage, {"checkpoint", *target, talc::targets::builtinGenerator.str()});
          return mlir::success();
        },
        [](llvm::function_ref<void(const mlir::detail::PassOptions &)>) {});
  }
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<talc::TalcDialect, talc::kernel::KernelDialect>();
  talc::kernel::registerInterfaces(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, overview, registry));
}
