// SPDX-License-Identifier: Apache-2.0
// Registers of a range are known by what stands in front of their number, all else by the whole name.
#include "test/ptx/Scopes.h"

namespace talc::ptx {

static std::string stripNumber(const std::string &name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

static std::string rename(const Function &from, const std::string &name, const std::string &suffix) {
  for (const RegisterRange &range : from.registers)
    if (range.count ? range.prefix == stripNumber(name) && range.prefix != name : range.prefix == name)
      return range.prefix + suffix + name.substr(range.prefix.size());
  bool isDeclared = from.labels.count(name) || from.branchTargets.count(name);
  for (const Variable &variable : from.variables)
    isDeclared |= variable.name == name;
  return isDeclared ? name + suffix : name;
}

static void rename(const Function &from, Operand &operand, const std::string &suffix) {
  operand.name = rename(from, operand.name, suffix);
  for (Operand &element : operand.elements)
    rename(from, element, suffix);
}

void renameDeclared(const Function &from, Statement &statement, const std::string &suffix) {
  statement.guard = rename(from, statement.guard, suffix);
  for (Operand &operand : statement.operands)
    rename(from, operand, suffix);
}

}  // namespace talc::ptx
