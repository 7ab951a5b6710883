// SPDX-License-Identifier: Apache-2.0
// What signals mean to the command.
#pragma once

namespace talc::tools {

// Before anything else: signals that end the process remove unfinished files (llvm::sys::RemoveFileOnSignal), a closed
// pipe is such a signal, those that the caller has had ignored stay so, and a file that grows beyond its limit is an
// error to report.
void prepareSignals();

}  // namespace talc::tools
