// SPDX-License-Identifier: Apache-2.0
// What fits together only as a whole.
#pragma once

#include "runtime/program/Options.h"

namespace talc::program {

// A failure with TALC_ERROR_USAGE.
Status wrongUsage(const std::string &what);

Status checkOptions(const Options &options);

}  // namespace talc::program
