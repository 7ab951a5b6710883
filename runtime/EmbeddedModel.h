// SPDX-License-Identifier: Apache-2.0
// Opens the model that a program or library carries.
#pragma once

#include "runtime/talc.h"

namespace talc {

// talc_model_open of the artifact that lies at `begin`, in memory that was loaded from the file of this code.
talc_status openEmbedded(const unsigned char *begin, const talc_open_options *options, talc_model **model,
                         talc_error *error);

}  // namespace talc
