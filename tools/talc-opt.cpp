// SPDX-License-Identifier: Apache-2.0
// talc-opt: runs single passes on .mlir files, with all of mlir-opt's flags.
#include "compiler/passes/Passes.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  talc::registerTalcPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<talc::TalcDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "talc's pass driver\n", registry));
}
