// SPDX-License-Identifier: Apache-2.0
// The settings of generation that a model's authors chose, in the form that talc.h gives them.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/talc.h"

namespace talc {

// Fills every field of `info` that the table of settings names. Lists live as long as `settings`.
void describeSettings(const artifact::StoredSettings &settings, talc_model_info &info);

}  // namespace talc
