// SPDX-License-Identifier: Apache-2.0
// Collects the errors that MLIR reports during its lifetime, as talc's errors.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace talc {

class DiagnosticCollector {
public:
  // `source`: the file that the program was read from, whose lines errors quote; empty: none.
  explicit DiagnosticCollector(mlir::MLIRContext &context, std::string source = "");

  bool empty() const { return lines.empty(); }
  // The collected errors. `subject` takes the place of the file in diagnostics without a location.
  llvm::Error takeError(const std::string &subject);

private:
  struct Line {
    std::string location, text;
    std::string quote;  // the line of the source with a caret below
  };

  void add(mlir::Diagnostic &diagnostic);

  std::string source;
  std::vector<Line> lines;
  mlir::ScopedDiagnosticHandler handler;
};

}  // namespace talc
