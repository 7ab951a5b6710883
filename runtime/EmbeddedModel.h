// SPDX-License-Identifier: Apache-2.0
// Opens the model that is embedded in a program or library.
#pragma once

#include "runtime/talc.h"

namespace talc {

// The same as talc_model_open, for the artifact at `begin`, in memory that was loaded from the same file as this code.
talc_status openEmbedded(const unsigned char *begin, const talc_open_options *options, talc_model **model,
                         talc_error *error);

}  // namespace talc
