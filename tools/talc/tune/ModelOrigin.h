// SPDX-License-Identifier: Apache-2.0
// Finds the model of a compiled program, for talc tune APP: a program has code, but not the source of other code.
#pragma once

#include "tools/talc/bench/KernelList.h"
#include "tools/talc/tune/Tune.h"

namespace talc::tools {

// Reads the model and options of a program from its manifest. Returns an error for `command`, or an empty text.
std::string readModelOrigin(const std::string &command, const std::string &program, CompileOptions &model);

// If `options.compile.model` is a compiled program, replaces it by its model, with the options and the target that this
// machine runs. Returns an error, or an empty text.
std::string resolveModelOrigin(TuneOptions &options);

// Whether the kernels of a program differ from the list, because the model or the compiler has changed.
bool kernelsDiffer(const std::string &program, const bench::KernelList &now);

}  // namespace talc::tools
