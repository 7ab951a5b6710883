// SPDX-License-Identifier: Apache-2.0
// Parses PTX line by line: bodies, and the bodies that are inlined into them, begin and end with a brace in column 0.
//
//   .version 7.0 ... .address_size 64             header
//   .extern .shared ...                           globals
//
//   	// .globl	name                               declaration
//   .visible .entry name( ... )
//   { ... }                                       body
#include "compiler/targets/nvptx/PtxModule.h"

#include "compiler/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace talc::nvptx {

namespace {

constexpr llvm::StringLiteral headerEnd = ".address_size 64\n", comment = "\t// .globl\t", visible = ".visible ";
constexpr llvm::StringLiteral bodyBegin = "{\n", bodyEnd = "}\n";
constexpr llvm::StringLiteral returnInstruction = "\tret;\n", ownLabels = "$L__BB0_", inlinedLabels = "$L__BB1_";

std::string replaceAll(StringRef text, StringRef from, const std::string &to) {
  std::string result;
  for (size_t at = text.find(from); at != StringRef::npos; at = text.find(from)) {
    result += text.take_front(at).str() + to;
    text = text.drop_front(at + from.size());
  }
  return result + text.str();
}

// Takes lines from the front of a text.
class Lines {
public:
  explicit Lines(StringRef text) : rest(text) {}

  bool isAtEnd() const { return rest.empty(); }
  StringRef take() {
    size_t end = rest.find('\n');
    StringRef line = rest.take_front(end == StringRef::npos ? rest.size() : end + 1);
    rest = rest.drop_front(line.size());
    return line;
  }
  // All lines before one that begins with a prefix.
  std::string takeUntil(llvm::ArrayRef<StringRef> prefixes) {
    std::string lines;
    while (!isAtEnd() && llvm::none_of(prefixes, [&](StringRef prefix) { return rest.starts_with(prefix); }))
      lines += take();
    return lines;
  }

  // A block in braces, which may contain others.
  std::string takeBlock() {
    std::string block;
    int depth = 0;
    do {
      StringRef line = take();
      depth += (line == bodyBegin) - (line == bodyEnd);
      block += line;
    } while (depth > 0 && !isAtEnd());
    return block;
  }

private:
  StringRef rest;
};

}  // namespace

std::string PtxFunction::inlinedBody(StringRef returnLabel) const {
  std::string text = replaceAll(body, returnInstruction, ("\tbra \t" + returnLabel + ";\n").str());
  return replaceAll(text, ownLabels, inlinedLabels.str());
}

// The name behind .entry or .func.
static std::string findName(StringRef declaration) {
  StringRef line = declaration.substr(std::min(declaration.find(visible), declaration.size()));
  StringRef name = line.contains(".entry ") ? line.split(".entry ").second : line.split(".func ").second;
  return name.ltrim().take_until([](char c) { return c == '(' || llvm::isSpace(c); }).str();
}

llvm::Expected<PtxModule> PtxModule::parse(StringRef text) {
  PtxModule module;
  Lines lines(text);
  module.header = lines.takeUntil({headerEnd});
  module.header += lines.take();
  module.globals = lines.takeUntil({comment, visible});
  // The blank lines in front of the first function are part of it.
  const size_t globalBytes = StringRef(module.globals).rtrim().size() + !StringRef(module.globals).trim().empty();
  std::string blank = module.globals.substr(globalBytes);
  module.globals.resize(globalBytes);
  while (!lines.isAtEnd()) {
    PtxFunction function;
    function.declaration = std::move(blank) + lines.takeUntil({bodyBegin});
    function.name = findName(function.declaration);
    function.body = lines.takeBlock();
    if (function.name.empty() || !StringRef(function.body).ends_with(bodyEnd))
      return internalError("PTX has an unknown form: no body of the function '{}'", function.name);
    blank = "";
    module.functions.push_back(std::move(function));
  }
  if (!StringRef(module.header).ends_with(headerEnd))
    return internalError("PTX has an unknown form: no header");
  return module;
}

llvm::Expected<PtxModule> PtxModule::link(llvm::ArrayRef<PtxModule> modules) {
  PtxModule linked;
  for (const PtxModule &module : modules) {
    if (linked.header.empty())
      linked.header = module.header;
    if (module.header != linked.header)
      return internalError("PTX modules with different headers are linked");
    linked.globals += module.globals;
    linked.functions.insert(linked.functions.end(), module.functions.begin(), module.functions.end());
  }
  return linked;
}

std::string PtxModule::text() const {
  std::string text = header + globals;
  for (const PtxFunction &function : functions)
    text += function.text();
  return text;
}

}  // namespace talc::nvptx
