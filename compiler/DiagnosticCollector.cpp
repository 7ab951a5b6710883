// SPDX-License-Identifier: Apache-2.0
// Renders MLIR's diagnostics; warnings and remarks go on to the handler outside.
//
//   error[T0508]: model.mlir:7:23: use of undeclared SSA value name: %hiden
//     %y = talc.linear %hiden, %w : ...
//                      ^
//
// Only the file that the program was read from is quoted: a location in a program may name any file.
#include "compiler/DiagnosticCollector.h"

#include "compiler/Error.h"
#include "compiler/SourceQuote.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace talc {

constexpr size_t maxLines = 20;

// The first place in a file; null: there is none.
static FileLineColLoc fileOf(Location location) {
  FileLineColLoc found;
  location->walk([&](Location inner) {
    found = dyn_cast<FileLineColLoc>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

// FILE:LINE:COLUMN, else the name of a named place, else nothing.
static std::string placeOf(Location location) {
  if (FileLineColLoc file = fileOf(location))
    return fmt::format("{}:{}:{}", file.getFilename().str(), file.getLine(), file.getColumn());
  std::string place;
  location->walk([&](Location inner) {
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

DiagnosticCollector::DiagnosticCollector(MLIRContext &context, std::string source)
    : source(std::move(source)), handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        if (lines.size() < maxLines)
          add(diagnostic);
        return success();
      }) {}

void DiagnosticCollector::add(Diagnostic &diagnostic) {
  Line line{placeOf(diagnostic.getLocation()), textOf(diagnostic), ""};
  FileLineColLoc file = fileOf(diagnostic.getLocation());
  if (file && file.getFilename() == source) {
    SourceQuote quote = quoteSource(source, file.getLine(), file.getColumn());
    // Upstream does not say which value is undeclared.
    if (llvm::StringRef(quote.word).starts_with("%") && line.text.find(quote.word) == std::string::npos)
      line.text += ": " + quote.word;
    line.quote = std::move(quote.text);
  }
  lines.push_back(std::move(line));
}

llvm::Error DiagnosticCollector::takeError(const std::string &subject) {
  std::string text;
  for (const Line &line : lines) {
    bool finished = llvm::StringRef(line.text).starts_with("error[");
    std::string place = line.place.empty() ? subject : line.place;
    text += text.empty() ? "" : "\n";
    text += finished ? line.text : errorText(ErrorCode::Program, "{}: {}", place, line.text) + line.quote;
  }
  lines.clear();
  if (text.empty())
    return internalError("a pass failed on {} and did not say why", subject);
  return llvm::createStringError(text);
}

}  // namespace talc
