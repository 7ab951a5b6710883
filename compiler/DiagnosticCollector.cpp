// SPDX-License-Identifier: Apache-2.0
// Renders MLIR's diagnostics; warnings and remarks are passed on to the next handler.
//
//   error[T0508]: model.mlir:7:23: use of undeclared SSA value name: %hiden
//     %y = talc.linear %hiden, %w : ...
//                      ^
//
// Only the file that the program was read from is quoted, because a location in a program may name any file.
#include "compiler/DiagnosticCollector.h"

#include "compiler/Error.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

using namespace mlir;

namespace talc {

constexpr size_t maxLines = 20;

constexpr size_t maxQuoteWidth = 110;

static llvm::StringRef findLine(const llvm::MemoryBuffer &file, unsigned number) {
  llvm::line_iterator at(file, /*SkipBlanks=*/false);
  for (unsigned passed = 1; passed < number && !at.is_at_eof(); ++passed)
    ++at;
  return at.is_at_eof() ? llvm::StringRef() : *at;
}

static bool isWord(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-' || c == '#';
}

// Control characters in a file must not reach the terminal.
static std::string printable(std::string text) {
  bool readable = llvm::json::isUTF8(text);
  std::replace_if(
      text.begin(), text.end(), [&](unsigned char c) { return c < ' ' || c == 127 || (c > 127 && !readable); }, ' ');
  return text;
}

namespace {

// The line of a program that an error is about.
struct SourceQuote {
  std::string text;  // "\n  LINE\n  ^"; a long line is cut around the column
  std::string word;  // the word at the column, such as %x
};

}  // namespace

// Line and column count from 1. Empty if the file has no such line and column, or cannot be read. Reads the file again,
// since a program in memory does not keep its text.
static SourceQuote quoteSource(const std::string &path, unsigned line, unsigned column) {
  if (!llvm::sys::fs::is_regular_file(path))
    return {};
  auto file = llvm::MemoryBuffer::getFile(path);
  llvm::StringRef text = file ? findLine(**file, line) : llvm::StringRef();
  if (column == 0 || column > text.size())
    return {};
  size_t index = column - 1, first = index > maxQuoteWidth ? index - maxQuoteWidth / 2 : text.find_first_not_of(" \t");
  first = std::min(first, index);
  SourceQuote quote;
  quote.word = text.substr(index, 1).str() + text.substr(column).take_while(isWord).str();
  quote.text =
      "\n  " + printable(text.substr(first, maxQuoteWidth).str()) + "\n  " + std::string(index - first, ' ') + "^";
  return quote;
}

// The first location that is in a file; null: there is none.
static FileLineColLoc findFileLocation(Location location) {
  FileLineColLoc found;
  location->walk([&](Location inner) {
    found = dyn_cast<FileLineColLoc>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

// FILE:LINE:COLUMN, else the name of a named location, else nothing.
static std::string locationText(Location location) {
  if (FileLineColLoc file = findFileLocation(location))
    return fmt::format("{}:{}:{}", file.getFilename().str(), file.getLine(), file.getColumn());
  std::string text;
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner); name && text.empty())
      text = name.getName().str();
    return WalkResult::advance();
  });
  return text;
}

// The first line: the text behind a line break is for readers of IR.
static std::string firstLine(Diagnostic &diagnostic) {
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
  Line line{locationText(diagnostic.getLocation()), firstLine(diagnostic), ""};
  FileLineColLoc file = findFileLocation(diagnostic.getLocation());
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
    bool isComplete = llvm::StringRef(line.text).starts_with("error[");
    std::string location = line.location.empty() ? subject : line.location;
    text += text.empty() ? "" : "\n";
    text += isComplete ? line.text : errorText(ErrorCode::Program, "{}: {}", location, line.text) + line.quote;
  }
  lines.clear();
  if (text.empty())
    return internalError("a pass failed on {} and did not say why", subject);
  return llvm::createStringError(text);
}

}  // namespace talc
