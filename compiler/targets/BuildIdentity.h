// SPDX-License-Identifier: Apache-2.0
// Tells builds of the compiler apart.
#pragma once

#include <string>

namespace talc::targets {

// The same text for the same build of this program and of every library that is loaded, LLVM among them.
std::string buildIdentity();

}  // namespace talc::targets
