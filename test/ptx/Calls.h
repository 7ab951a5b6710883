// SPDX-License-Identifier: Apache-2.0
// Functions in the place of their calls.
#pragma once

#include "test/ptx/Syntax.h"

namespace talc::ptx {

// The kernel without calls. Throws a Fault for what is called and is not there, or calls itself.
Function inlineCalls(const Function &kernel, const std::map<std::string, Function> &functions);

// What a statement says of registers, labels and variables that `from` declares: their names with the suffix.
void renameOwn(const Function &from, Statement &statement, const std::string &suffix);

}  // namespace talc::ptx
