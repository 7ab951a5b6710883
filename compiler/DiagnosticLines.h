// SPDX-License-Identifier: Apache-2.0
// Collects what MLIR reports while it exists, as talc's one-line errors.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace talc {

class DiagnosticLines {
public:
  explicit DiagnosticLines(mlir::MLIRContext &context);

  bool empty() const { return lines.empty(); }
  // The collected errors. `subject` stands where a diagnostic names no file, and for the whole if there is none.
  llvm::Error takeError(const std::string &subject);

private:
  struct Line {
    std::string place, text;
  };

  std::vector<Line> lines;
  mlir::ScopedDiagnosticHandler handler;
};

}  // namespace talc
