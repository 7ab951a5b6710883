// SPDX-License-Identifier: Apache-2.0
// Renders MLIR's diagnostics; warnings and remarks go on to the handler outside.
#include "compiler/DiagnosticLines.h"

#include "compiler/Error.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace talc {

constexpr size_t maxLines = 20;

// FILE:LINE:COLUMN, else the name of a named place, else nothing.
static std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      place = fmt::format("{}:{}:{}", file.getFilename().str(), file.getLine(), file.getColumn());
      return WalkResult::interrupt();
    }
    if (auto name = dyn_cast<NameLoc>(inner); name && place.empty())
      place = name.getName().str();
    return WalkResult::advance();
  });
  return place;
}

// One line: what follows a line break is for readers of IR.
static std::string textOf(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  return text.substr(0, text.find('\n'));
}

DiagnosticLines::DiagnosticLines(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        if (lines.size() < maxLines)
          lines.push_back({placeOf(diagnostic.getLocation()), textOf(diagnostic)});
        return success();
      }) {}

llvm::Error DiagnosticLines::takeError(const std::string &subject) {
  std::string text;
  for (const Line &line : lines) {
    bool finished = llvm::StringRef(line.text).starts_with("error[");
    std::string place = line.place.empty() ? subject : line.place;
    text += text.empty() ? "" : "\n";
    text += finished ? line.text : errorText(ErrorCode::Program, "{}: {}", place, line.text);
  }
  lines.clear();
  if (text.empty())
    return internalError("a pass failed on {} and did not say why", subject);
  return llvm::createStringError(text);
}

}  // namespace talc
