// SPDX-License-Identifier: Apache-2.0
// Handles early ends of the command: signals, refused memory, a stack that is too small, fatal errors of LLVM.
#pragma once

namespace talc::tools {

// Must be called first. Signals that end the process remove unfinished files (llvm::sys::RemoveFileOnSignal), a closed
// pipe is such a signal, those that the caller has had ignored stay so, and a file that grows beyond its limit is an
// error to report. The others become one line with a code.
void prepareSignals();

}  // namespace talc::tools
