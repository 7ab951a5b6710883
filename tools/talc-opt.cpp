// SPDX-License-Identifier: Apache-2.0
// talc-opt: runs single passes, or whole stages as --talc-<stage>, on .mlir files, with all of mlir-opt's flags.
#include "compiler/Pipeline.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  talc::registerTalcPasses();
  for (talc::Stage stage : talc::allStages) {
    if (stage == talc::Stage::Import || stage == talc::Stage::Package)
      continue;
    std::string name = ("talc-" + talc::stageName(stage)).str();
    mlir::registerPassPipeline(
        name, "talc's stage " + talc::stageName(stage).str(),
        [stage](mlir::OpPassManager &passes, llvm::StringRef,
                llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>) {
          talc::addStage(passes, stage, {});
          return mlir::success();
        },
        [](llvm::function_ref<void(const mlir::detail::PassOptions &)>) {});
  }
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<talc::TalcDialect, talc::kernel::KernelDialect>();
  talc::kernel::registerBufferization(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "talc's pass driver\n", registry));
}
