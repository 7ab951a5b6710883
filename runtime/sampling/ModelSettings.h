// SPDX-License-Identifier: Apache-2.0
// The settings of generation in the form that talc.h gives them: those that a model's authors chose, and a caller's.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/talc.h"

#include <string>

namespace talc {

// Fills every field of `info` that the table of settings names. Lists live as long as `settings`.
void describeSettings(const artifact::StoredSettings &settings, talc_model_info &info);

// What a caller gave, with the model's defaults where it is 0 or not there, and neutral values for TALC_NONE. Neither
// is checked.
talc_sampling completeSampling(const talc_sampling *given, const artifact::ModelInfo &info);
talc_search completeSearch(const talc_search *given, const artifact::ModelInfo &info);

// Empty when all numbers of a caller's settings are in the ranges that the table says, for a model with so many tokens;
// else what is wrong. Lists of tokens are not looked at.
std::string findWrongNumber(const talc_sampling &sampling, const talc_search &search, int32_t vocabulary);

}  // namespace talc
