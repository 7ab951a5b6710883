// SPDX-License-Identifier: Apache-2.0
// Finds the file that this code was loaded from: the program, or the shared library that carries the runtime.
#pragma once

#include <string>

namespace talc {

// Its path, to be shown; "this program" when the system does not tell.
std::string thisBinaryName();

// Opens it; negative when the system does not tell. The descriptor is the caller's.
int openThisBinary();

}  // namespace talc
