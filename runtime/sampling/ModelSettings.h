// SPDX-License-Identifier: Apache-2.0
// Converts settings of generation to the structs of talc.h: those of a model's authors, and a caller's.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/talc.h"

#include <string>

namespace talc {

// Fills every field of `info` that the table of settings names. Lists live as long as `settings`.
void describeSettings(const artifact::StoredSettings &settings, talc_model_info &info);

// Returns a caller's settings, with the model's defaults where a field is 0 or absent, and neutral values for
// TALC_NONE. Neither is checked.
talc_sampling completeSampling(const talc_sampling *given, const artifact::ModelInfo &info);
talc_search completeSearch(const talc_search *given, const artifact::ModelInfo &info);

// Returns an empty text when all numbers of a caller's settings are in the ranges of the table, for a vocabulary of
// this size, else what is wrong. Lists of tokens are not checked.
std::string findWrongNumber(const talc_sampling &sampling, const talc_search &search, int32_t vocabulary);

}  // namespace talc
