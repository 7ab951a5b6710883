// SPDX-License-Identifier: Apache-2.0
// Exit statuses of subcommands, and the handling of everything that ends talc early.
#pragma once

namespace talc::tools {

// Exit statuses of every subcommand.
enum ExitStatus { success = 0, failed = 1, wrongUsage = 2 };

// Handles signals, refused memory, a stack that is too small, and fatal errors of LLVM.
//
// Must be called first. Signals that end the process remove unfinished files (llvm::sys::RemoveFileOnSignal), a closed
// pipe is such a signal, those that the caller has had ignored stay so, and a file that grows beyond its limit is an
// error to report. The others become one line with a code.
void prepareSignals();

}  // namespace talc::tools
