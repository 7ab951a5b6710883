// SPDX-License-Identifier: Apache-2.0
// Keeps the k likeliest tokens.
#include "runtime/sampling/filters/Filter.h"

namespace talc {

const Filter topKFilter = {
    [](const talc_sampling &settings) { return settings.top_k > 0; },
    [](const talc_sampling &settings, SortedCandidates &candidates) { candidates.keep(settings.top_k); }};

}  // namespace talc
