// SPDX-License-Identifier: Apache-2.0
// Finds the file that this code was loaded from: the program, or the shared library that carries the runtime.
#pragma once

#include <string>

namespace talc {

struct OwnFile {
  std::string path;  // to open
  std::string name;  // to show
};

// Empty path when the system does not tell.
OwnFile findOwnFile();

}  // namespace talc
