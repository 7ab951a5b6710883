// SPDX-License-Identifier: Apache-2.0
// Calls the compiler from within: a probe asks for no calibration of its own.
#include "compiler/quantize/ProbeLibrary.h"

namespace talc {

llvm::Error compileProbe(mlir::ModuleOp copy, const CompileRequest &request, const FormatChoice &weights,
                         const std::string &library) {
  auto targets = targets::parseTargets("native");
  if (!targets)
    return targets.takeError();
  CompileRequest probe;
  probe.targets = std::move(*targets);
  probe.weights = weights;
  probe.emit = EmitKind::Library;
  probe.output = library;
  probe.tokenizer = request.tokenizer;
  probe.programDirectory = request.programDirectory;
  probe.cacheDirectory = request.calibration.cacheDirectory;
  return compile(copy, probe);
}

}  // namespace talc
