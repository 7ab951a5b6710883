// SPDX-License-Identifier: Apache-2.0
// Every call gets a copy of its function, whose names are given a number:
//
//   st.param.b32 [x], %r7;             mov.b32 x, %r7;
//   call.uni f, (x);                   mov.b32 %r_1_1, x;         ld.param.b32 %r1, [f_param_0] of f
//                                      bra (end)_1_;                ret of f
//                                    (end)_1_:
#include "test/ptx/Calls.h"

#include "test/ptx/Fault.h"

namespace talc::ptx {

namespace {

class Inliner {
public:
  explicit Inliner(const std::map<std::string, Function> &functions) : functions(functions) {}

  // Puts the statements of `from` behind those of `result`. `arguments`: of a call, in place of parameters.
  void add(const Function &from, const std::string &suffix, const std::vector<Operand> &arguments, int depth);

  Function result;

private:
  void declare(const Function &from, const std::string &suffix);
  void call(const Statement &statement, const std::string &suffix, const Function &from, int depth);

  const std::map<std::string, Function> &functions;
  int calls = 0;
};

}  // namespace

static std::string prefixOf(const std::string &name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

static std::string rename(const Function &from, const std::string &name, const std::string &suffix) {
  for (const RegisterRange &range : from.registers)
    if (range.count ? range.prefix == prefixOf(name) && range.prefix != name : range.prefix == name)
      return range.prefix + suffix + name.substr(range.prefix.size());
  bool known = from.labels.count(name) || from.branchTargets.count(name);
  for (const Variable &variable : from.variables)
    known |= variable.name == name;
  return known ? name + suffix : name;
}

static void rename(const Function &from, Operand &operand, const std::string &suffix) {
  operand.name = rename(from, operand.name, suffix);
  for (Operand &element : operand.elements)
    rename(from, element, suffix);
}

void renameOwn(const Function &from, Statement &statement, const std::string &suffix) {
  statement.guard = rename(from, statement.guard, suffix);
  for (Operand &operand : statement.operands)
    rename(from, operand, suffix);
}

static std::string widthOf(const Function &from, const std::string &name) {
  for (const RegisterRange &range : from.registers)
    if (range.count ? range.prefix == prefixOf(name) : range.prefix == name)
      return range.type.substr(1);
  return "";
}

// A load may fill a register that is wider.
static void becomeConversion(Statement &statement, const std::string &width, const Operand &source) {
  const std::string type = statement.modifiers.back(), sign = type[0] == 's' ? "s" : "u";
  statement.opcode = width == type.substr(1) ? "mov" : "cvt";
  statement.modifiers = width == type.substr(1) ? std::vector{type} : std::vector{sign + width, sign + type.substr(1)};
  statement.operands[1] = source;
}

static void becomeMove(Statement &statement, const Operand &target, const Operand &source) {
  statement.opcode = "mov";
  statement.modifiers = {statement.modifiers.back()};
  statement.operands = {target, source};
}

// The number of the parameter that a statement reads, or -1.
static int parameterOf(const Function &from, const Statement &statement) {
  if (statement.opcode == "ld" && statement.has("param"))
    for (size_t i = 0; i < from.parameters.size(); ++i)
      if (from.parameters[i].name == statement.operands.at(1).name)
        return static_cast<int>(i);
  return -1;
}

void Inliner::declare(const Function &from, const std::string &suffix) {
  for (RegisterRange range : from.registers) {
    range.prefix += suffix;
    result.registers.push_back(range);
  }
  for (Variable variable : from.variables) {
    variable.name += suffix;
    result.variables.push_back(variable);
  }
}

void Inliner::call(const Statement &statement, const std::string &suffix, const Function &from, int depth) {
  constexpr int deepest = 16;
  const auto callee = statement.operands.empty() ? functions.end() : functions.find(statement.operands[0].name);
  if (callee == functions.end() || statement.operands.size() != 2 || depth >= deepest || !statement.guard.empty() ||
      statement.operands[1].elements.size() != callee->second.parameters.size())
    throw SyntaxFault(statement.line, statement.text, "this call is not known to the emulator");
  Operand arguments = statement.operands[1];
  rename(from, arguments, suffix);
  add(callee->second, "_" + std::to_string(++calls) + "_", arguments.elements, depth + 1);
}

void Inliner::add(const Function &from, const std::string &suffix, const std::vector<Operand> &arguments, int depth) {
  const std::string end = "(end)" + suffix;
  std::vector<uint32_t> places;
  declare(from, suffix);
  for (const Statement &original : from.statements) {
    places.push_back(static_cast<uint32_t>(result.statements.size()));
    if (original.opcode == "call") {
      call(original, suffix, from, depth);
      continue;
    }
    Statement statement = original;
    renameOwn(from, statement, suffix);
    if (statement.opcode == "st" && statement.has("param")) {
      Operand target;
      target.name = statement.operands.at(0).name;
      becomeMove(statement, target, statement.operands.at(1));
    } else if (int number = parameterOf(from, original); depth > 0 && number >= 0) {
      becomeConversion(statement, widthOf(from, original.operands[0].name), arguments[static_cast<size_t>(number)]);
    } else if (depth > 0 && statement.opcode == "ret") {
      statement.opcode = "bra";
      statement.operands.resize(1);
      statement.operands[0].name = end;
    }
    result.statements.push_back(statement);
  }
  places.push_back(static_cast<uint32_t>(result.statements.size()));
  for (const auto &[name, place] : from.labels)
    result.labels[name + suffix] = places[place];
  for (const auto &[name, targets] : from.branchTargets)
    for (const std::string &target : targets)
      result.branchTargets[name + suffix].push_back(target + suffix);
  result.labels[end] = places.back();
}

Function inlineCalls(const Function &kernel, const std::map<std::string, Function> &functions) {
  Inliner inliner(functions);
  inliner.result.name = kernel.name;
  inliner.result.parameters = kernel.parameters;
  inliner.result.mostThreads = kernel.mostThreads;
  inliner.add(kernel, "", {}, 0);
  return std::move(inliner.result);
}

}  // namespace talc::ptx
