// SPDX-License-Identifier: Apache-2.0
// Drops tokens that are less likely than p times the likeliest.
//
// Source: Nguyen, Baker, Neo, Roush, Kirsch, Shwartz-Ziv: Turning up the heat: min-p sampling, 2024.
#include "runtime/sampling/filters/Filter.h"

namespace talc {

const Filter minPFilter = {[](const talc_sampling &settings) { return settings.min_p > 0; },
                           [](const talc_sampling &settings, SortedCandidates &candidates) {
                             size_t count = 1;  // the likeliest, whose value is 1
                             while (count < candidates.size() && candidates[count].value >= settings.min_p)
                               ++count;
                             candidates.keep(count);
                           }};

}  // namespace talc
