// SPDX-License-Identifier: Apache-2.0
// Finds the file that this code was loaded from: the program, or the shared library with the runtime.
#pragma once

#include <string>

namespace talc {

// Returns its path, for messages; "this program" when the system does not tell.
std::string thisBinaryName();

// Opens it for the caller; negative when the system does not tell.
int openThisBinary();

}  // namespace talc
