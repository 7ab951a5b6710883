// SPDX-License-Identifier: Apache-2.0
// Exit statuses of every subcommand of talc.
#pragma once

namespace talc::tools {

enum ExitStatus { success = 0, failed = 1, wrongUsage = 2 };

}  // namespace talc::tools
