// SPDX-License-Identifier: Apache-2.0
// Runs apps for other architectures under qemu-user.
#pragma once

#include "tools/talc/bench/App.h"

namespace talc::bench {

// Lets an app whose list says that it is foreign evaluate one token. `outcome`: in words. Fails when the app does;
// without an emulator, and for a GPU, nothing runs.
Status emulateToken(const App &app, std::string &outcome);

}  // namespace talc::bench
