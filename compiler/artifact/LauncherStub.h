// SPDX-License-Identifier: Apache-2.0
// Finds the prebuilt runtime that an artifact begins with.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace talc {

// A DriverProgram is linked dynamically, since it loads a driver.
enum class StubKind { Program, DriverProgram, Library, Object };

// Looks where a build and an installation put it, relative to the directory of the talc command. `family`: of the
// machines that it runs on, as artifacts name it, in a folder of that name; empty: that of talc's own machine.
llvm::Expected<std::string> findLauncherStub(StubKind kind, llvm::StringRef family, llvm::StringRef programDirectory);

}  // namespace talc
