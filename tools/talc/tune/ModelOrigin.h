// SPDX-License-Identifier: Apache-2.0
// talc tune APP: a program has the code of its kernels, but not what other code could be made of. It names its model.
#pragma once

#include "tools/talc/bench/KernelList.h"
#include "tools/talc/tune/Tune.h"

namespace talc::tools {

// What a program was made of, as its manifest says: the model and its options. Returns what is wrong, or nothing;
// `command` wants to know.
std::string readModelOrigin(const std::string &command, const std::string &program, CompileOptions &model);

// If `options.compile.model` is a compiled program, what it was made of takes its place, with the options and the one
// of its targets that this machine takes. Returns what is wrong, or nothing.
std::string resolveModelOrigin(TuneOptions &options);

// Whether the kernels of a program are not those of the list: the model has changed, or what compiles it.
bool kernelsDiffer(const std::string &program, const bench::KernelList &now);

}  // namespace talc::tools
