// SPDX-License-Identifier: Apache-2.0
// Registers of a range are known by what stands in front of their number, all else by the whole name.
#include "test/ptx/Scopes.h"

namespace talc::ptx {

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

}  // namespace talc::ptx
