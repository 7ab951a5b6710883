// SPDX-License-Identifier: Apache-2.0
// The model that is embedded in a program or library: its artifact, and how it is opened.
#pragma once

#include "runtime/talc.h"

// The artifact that this program or library carries, once talc compile has put it there (runtime/stub).
extern "C" __attribute__((visibility("hidden"))) const unsigned char talc_embedded_artifact[];

namespace talc {

// Does what talc_model_open does, for the artifact at `begin`, in memory that was loaded from the file of this code.
talc_status openEmbedded(const unsigned char *begin, const talc_open_options *options, talc_model **model,
                         talc_error *error);

}  // namespace talc
