// SPDX-License-Identifier: Apache-2.0
// Keeps the fewest likeliest tokens whose probabilities reach p of the sum.
//
// Source: Holtzman, Buys, Du, Forbes, Choi: The curious case of neural text degeneration, 2020.
#include "runtime/sampling/filters/Filter.h"

namespace talc {

const Filter topPFilter = {[](const talc_sampling &settings) { return settings.top_p < 1; },
                           [](const talc_sampling &settings, SortedCandidates &candidates) {
                             double enough = settings.top_p * candidates.mass(), reached = 0;
                             size_t count = 0;
                             while (count < candidates.size() && (count == 0 || reached < enough))
                               reached += candidates[count++].value;
                             candidates.keep(count);
                           }};

}  // namespace talc
