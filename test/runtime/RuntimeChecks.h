// SPDX-License-Identifier: Apache-2.0
// Checks of the runtime that need a program. Each returns whether all went well and says on stderr what did not.
#pragma once

#include <string>
#include <vector>

namespace talc::test {

using Arguments = std::vector<std::string>;

bool checkAllocations(const Arguments &arguments);
bool checkApi(const Arguments &arguments);
bool checkBeams(const Arguments &arguments);
bool checkDamage(const Arguments &arguments);
bool checkHostile(const Arguments &arguments);
bool checkLibrary(const Arguments &arguments);
bool checkSampler(const Arguments &arguments);
bool checkThreads(const Arguments &arguments);

// Prints `what` when `condition` is false; returns the condition.
bool expect(bool condition, const std::string &what);

}  // namespace talc::test
