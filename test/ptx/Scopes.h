// SPDX-License-Identifier: Apache-2.0
// Names that braces declare for what stands between them.
#pragma once

#include "test/ptx/Syntax.h"

namespace talc::ptx {

// What a statement says of registers, labels and variables that `from` declares: their names with the suffix.
void renameOwn(const Function &from, Statement &statement, const std::string &suffix);

}  // namespace talc::ptx
