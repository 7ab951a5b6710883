// SPDX-License-Identifier: Apache-2.0
// Names that braces declare for what stands between them.
#pragma once

#include "test/ptx/Syntax.h"

namespace talc::ptx {

// Adds the suffix to the names of registers, labels and variables in a statement that `from` declares.
void renameDeclared(const Function &from, Statement &statement, const std::string &suffix);

}  // namespace talc::ptx
