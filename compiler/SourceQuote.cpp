// SPDX-License-Identifier: Apache-2.0
// Reads the file again, since a program in memory does not keep its text.
#include "compiler/SourceQuote.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

namespace talc {

constexpr size_t widest = 110;

static llvm::StringRef findLine(const llvm::MemoryBuffer &file, unsigned number) {
  llvm::line_iterator at(file, /*SkipBlanks=*/false);
  for (unsigned passed = 1; passed < number && !at.is_at_eof(); ++passed)
    ++at;
  return at.is_at_eof() ? llvm::StringRef() : *at;
}

static bool isWord(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-' || c == '#';
}

// Nothing in a file may steer a terminal.
static std::string printable(std::string text) {
  bool readable = llvm::json::isUTF8(text);
  std::replace_if(
      text.begin(), text.end(), [&](unsigned char c) { return c < ' ' || c == 127 || (c > 127 && !readable); }, ' ');
  return text;
}

SourceQuote quoteSource(const std::string &path, unsigned line, unsigned column) {
  if (!llvm::sys::fs::is_regular_file(path))
    return {};
  auto file = llvm::MemoryBuffer::getFile(path);
  llvm::StringRef text = file ? findLine(**file, line) : llvm::StringRef();
  if (column == 0 || column > text.size())
    return {};
  size_t place = column - 1, first = place > widest ? place - widest / 2 : text.find_first_not_of(" \t");
  first = std::min(first, place);
  SourceQuote quote;
  quote.word = text.substr(place, 1).str() + text.substr(column).take_while(isWord).str();
  quote.text = "\n  " + printable(text.substr(first, widest).str()) + "\n  " + std::string(place - first, ' ') + "^";
  return quote;
}

}  // namespace talc
