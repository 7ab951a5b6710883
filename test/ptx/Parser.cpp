// SPDX-License-Identifier: Apache-2.0
// Reads PTX text: what LLVM's back end writes, and inline PTX.
#include "test/ptx/Fault.h"
#include "test/ptx/Scopes.h"
#include "test/ptx/Syntax.h"
#include "test/ptx/Tokens.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace talc::ptx {

bool Statement::has(const char *modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Statement::mnemonic() const {
  std::string result = opcode;
  for (const std::string &modifier : modifiers)
    result += "." + modifier;
  return result;
}

// The size of a type such as b32 or u8.
static uint64_t typeBytes(const Token &type) {
  size_t digits = type.text.find_first_of("0123456789");
  int bits = digits == std::string_view::npos ? 0 : atoi(std::string(type.text.substr(digits)).c_str());
  if (type.text[0] != '.' || bits < 8)
    throw SyntaxFault(type.line, std::string(type.text), "no type of a variable");
  return bits / 8;
}

namespace {

class Parser {
public:
  explicit Parser(const std::string &text) : tokens(tokenize(text)) {}

  SourceText run() {
    while (peek().kind != Token::Kind::End)
      parseTopLevel();
    return std::move(source);
  }

private:
  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  const Token &take() { return tokens[at < tokens.size() - 1 ? at++ : at]; }
  bool takeIf(std::string_view expected) { return peek().is(expected) ? take(), true : false; }
  void expect(std::string_view expected) {
    if (!takeIf(expected))
      fail("expected '" + std::string(expected) + "' before");
  }
  [[noreturn]] void fail(const std::string &what) const {
    throw SyntaxFault(peek().line, std::string(peek().text), what);
  }

  void parseTopLevel();
  void parseKernel();
  void parseParameters(Function &function);
  void parseBody(Function &function);
  void parseBodyItem(Function &function);
  void closeScope(Function &function);
  void parseRegisters(Function &function);
  Variable parseVariable();
  void parseValues(Variable &variable, uint64_t elementBytes);
  void parseLabel(Function &scope, size_t place);
  Statement parseStatement();
  Operand parseOperand();
  Operand parseSimpleOperand();
  Operand parseAddress();
  Operand parseList(std::string_view begin, std::string_view end);
  void skipTo(std::string_view end) {
    while (peek().kind != Token::Kind::End && !takeIf(end))
      take();
  }
  void skipLine(int line) {
    while (peek().kind != Token::Kind::End && peek().line == line)
      take();
  }

  // A pair of braces that is still open: its first statement, and what it declares.
  struct Scope {
    size_t firstStatement;
    Function declared;
  };

  std::vector<Token> tokens;
  size_t at = 0;
  SourceText source;
  std::vector<Scope> scopes;
  int closedScopes = 0;
};

}  // namespace

static bool matchesAny(const Token &token, std::initializer_list<const char *> words) {
  return std::any_of(words.begin(), words.end(), [&](const char *word) { return token.is(word); });
}

void Parser::parseTopLevel() {
  const Token first = peek();
  if (matchesAny(first, {".version", ".target", ".address_size", ".file"}))
    return skipLine(first.line);
  if (matchesAny(first, {".visible", ".weak", ".extern", ".common"})) {
    take();
  } else if (takeIf(".entry")) {
    parseKernel();
  } else if (matchesAny(first, {".global", ".const", ".shared"})) {
    source.variables.push_back(parseVariable());
  } else {
    fail("not known to the emulator");
  }
}

void Parser::parseKernel() {
  Function function;
  function.name = take().text;
  parseParameters(function);
  while (!peek().is("{") && peek().kind != Token::Kind::End)
    if (matchesAny(take(), {".maxntid", ".reqntid"}))
      do
        function.maxThreads = std::max<uint64_t>(function.maxThreads, 1) * numberBits(take());
      while (takeIf(","));
  parseBody(function);
  source.kernels.push_back(std::move(function));
}

void Parser::parseParameters(Function &function) {
  if (!takeIf("("))
    return;
  while (!takeIf(")")) {
    function.parameters.push_back(parseVariable());
    takeIf(",");
  }
}

// .shared .align 16 .b8 name[4096]; in front of it or behind it may stand .ptr .global and others.
Variable Parser::parseVariable() {
  Variable variable;
  variable.space = take().text.substr(1);
  uint64_t elementBytes = 1;
  for (bool typed = false; peek().text.substr(0, 1) == ".";) {
    const Token word = take();
    if (word.is(".align")) {
      uint64_t alignment = numberBits(take());
      if (!typed)  // behind the type it is that of what a pointer points to
        variable.alignment = alignment;
    } else if (!matchesAny(word, {".ptr", ".global", ".shared", ".const", ".local", ".noalias", ".attribute"})) {
      elementBytes = typeBytes(word);
      variable.alignment = std::max(variable.alignment, elementBytes);
      typed = true;
    }
  }
  variable.name = take().text;
  variable.bytes = elementBytes;
  while (takeIf("[")) {
    variable.bytes *= peek().is("]") ? 0 : numberBits(take());
    expect("]");
  }
  if (takeIf("="))
    parseValues(variable, elementBytes);
  takeIf(";");
  return variable;
}

void Parser::parseValues(Variable &variable, uint64_t elementBytes) {
  bool braces = takeIf("{");
  do {
    bool negative = takeIf("-");
    uint64_t bits = numberBits(take());
    bits = negative ? -bits : bits;
    const auto *bytes = reinterpret_cast<const unsigned char *>(&bits);
    variable.values.insert(variable.values.end(), bytes, bytes + elementBytes);
  } while (takeIf(","));
  if (braces)
    expect("}");
}

void Parser::parseBody(Function &function) {
  do {
    if (peek().kind == Token::Kind::End)
      fail("the body of a kernel has no end");
    parseBodyItem(function);
  } while (!scopes.empty());
}

void Parser::parseBodyItem(Function &function) {
  if (takeIf("{")) {
    scopes.push_back({function.statements.size(), {}});
  } else if (takeIf("}")) {
    closeScope(function);
  } else if (takeIf(";")) {
  } else if (takeIf(".reg")) {
    parseRegisters(scopes.back().declared);
  } else if (matchesAny(peek(), {".shared", ".local"})) {
    function.variables.push_back(parseVariable());
  } else if (peek().is(".loc")) {
    skipLine(peek().line);
  } else if (peek().is(".pragma")) {
    skipTo(";");
  } else if (peek(1).is(":")) {
    parseLabel(scopes.back().declared, function.statements.size());
  } else {
    function.statements.push_back(parseStatement());
  }
}

// Gives what inner braces declare names that nothing else in the function has.
void Parser::closeScope(Function &function) {
  const Scope scope = std::move(scopes.back());
  scopes.pop_back();
  const std::string suffix = scopes.empty() ? "" : "_in" + std::to_string(++closedScopes) + "_";
  for (size_t i = scope.firstStatement; i < function.statements.size() && !scopes.empty(); ++i)
    renameDeclared(scope.declared, function.statements[i], suffix);
  for (RegisterRange range : scope.declared.registers) {
    range.prefix += suffix;
    function.registers.push_back(range);
  }
  for (const auto &[name, place] : scope.declared.labels)
    function.labels[name + suffix] = place;
  for (const auto &[name, targets] : scope.declared.branchTargets)
    for (const std::string &target : targets)
      function.branchTargets[name + suffix].push_back(target + suffix);
}

void Parser::parseRegisters(Function &function) {
  std::string type(take().text.substr(1));
  do {
    RegisterRange range = {std::string(take().text), type, 0};
    if (takeIf("<")) {
      range.count = static_cast<uint32_t>(numberBits(take()));
      expect(">");
    }
    function.registers.push_back(range);
  } while (takeIf(","));
  expect(";");
}

void Parser::parseLabel(Function &scope, size_t place) {
  std::string name(take().text);
  expect(":");
  if (!takeIf(".branchtargets")) {
    scope.labels[name] = static_cast<uint32_t>(place);
    return;
  }
  do
    scope.branchTargets[name].emplace_back(take().text);
  while (takeIf(","));
  expect(";");
}

Statement Parser::parseStatement() {
  Statement statement;
  statement.line = peek().line;
  const char *begin = peek().text.data();
  if (takeIf("@")) {
    statement.guardNegated = takeIf("!");
    statement.guard = take().text;
  }
  if (peek().kind != Token::Kind::Word)
    fail("expected an instruction");
  std::istringstream words{std::string(take().text)};
  std::getline(words, statement.opcode, '.');
  for (std::string modifier; std::getline(words, modifier, '.');)
    statement.modifiers.push_back(modifier);
  while (!peek().is(";")) {
    if (peek().kind == Token::Kind::End)
      fail("an instruction has no end");
    statement.operands.push_back(parseOperand());
    if (!takeIf(",") && !peek().is(";"))
      fail("expected ',' or ';' before");
  }
  const char *end = take().text.data();
  statement.text.assign(begin, end - begin);
  std::replace_if(
      statement.text.begin(), statement.text.end(), [](char c) { return strchr("\t\n", c); }, ' ');
  return statement;
}

// a, or a|b
Operand Parser::parseOperand() {
  Operand first = parseSimpleOperand();
  if (!takeIf("|"))
    return first;
  Operand both;
  both.kind = Operand::Kind::List;
  both.elements = {first, parseSimpleOperand()};
  return both;
}

Operand Parser::parseSimpleOperand() {
  if (peek().is("["))
    return parseAddress();
  if (peek().is("{"))
    return parseList("{", "}");
  if (peek().is("("))
    return parseList("(", ")");
  Operand operand;
  bool negative = takeIf("-");
  if (peek().kind == Token::Kind::Number) {
    operand.kind = Operand::Kind::Number;
    operand.number = numberBits(take());
    operand.number = negative ? -operand.number : operand.number;
  } else if (peek().kind == Token::Kind::Word && !negative) {
    operand.name = take().text;
    if (peek().is("+")) {  // variable + offset
      take();
      operand.number = numberBits(take());
    }
  } else {
    fail("expected an operand");
  }
  return operand;
}

// [%rd1+16], [variable], [16]
Operand Parser::parseAddress() {
  Operand operand;
  operand.kind = Operand::Kind::Address;
  expect("[");
  if (peek().kind == Token::Kind::Word)
    operand.name = take().text;
  while (!takeIf("]")) {
    bool negative = takeIf("-") || (takeIf("+") && takeIf("-"));
    if (peek().kind != Token::Kind::Number)
      fail("expected the number of an address");
    uint64_t bits = numberBits(take());
    operand.number += negative ? -bits : bits;
  }
  return operand;
}

Operand Parser::parseList(std::string_view begin, std::string_view end) {
  Operand list;
  list.kind = Operand::Kind::List;
  expect(begin);
  do
    list.elements.push_back(parseSimpleOperand());
  while (takeIf(","));
  expect(end);
  return list;
}

SourceText parsePtx(const std::string &text) {
  return Parser(text).run();
}

}  // namespace talc::ptx
