// SPDX-License-Identifier: Apache-2.0
// Collects what MLIR reports while it exists, as talc's errors.
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
  // The collected errors. `subject` stands where a diagnostic names no file, and for the whole if there is none.
  llvm::Error takeError(const std::string &subject);

private:
  struct Line {
    std::string place, text;
    std::string quote;  // of the source: its line and a caret
  };

  void add(mlir::Diagnostic &diagnostic);

  std::string source;
  std::vector<Line> lines;
  mlir::ScopedDiagnosticHandler handler;
};

}  // namespace talc
