// SPDX-License-Identifier: Apache-2.0
// A regular expression of Python for the names of modules, as methods of quantization use it.
#pragma once

#include "llvm/Support/Regex.h"

#include <optional>
#include <string>
#include <string_view>

namespace talc {

class ModulePattern {
public:
  // None if the expression has what talc does not understand: lookahead, back references, more than two counts, more
  // than 512 characters.
  static std::optional<ModulePattern> parse(std::string_view expression);

  // Whether a name begins with what the expression describes: Python's re.match.
  bool matches(std::string_view name) const { return regex.match(name); }

private:
  explicit ModulePattern(const std::string &extended) : regex(extended) {}

  llvm::Regex regex;
};

}  // namespace talc
