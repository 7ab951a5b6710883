// SPDX-License-Identifier: Apache-2.0
// Filters reduce the candidates for a draw, in the order of Filters.inc. Each is a file of this folder.
#pragma once

#include "runtime/sampling/SortedCandidates.h"
#include "runtime/talc.h"

namespace talc {

struct Filter {
  bool (*isOn)(const talc_sampling &settings);
  // A filter leaves at least one candidate.
  void (*apply)(const talc_sampling &settings, SortedCandidates &candidates);
};

#define FILTER(name) extern const Filter name##Filter;
#include "runtime/sampling/filters/Filters.inc"
#undef FILTER

// The table of all filters.
constexpr const Filter *filters[] = {
#define FILTER(name) &name##Filter,
#include "runtime/sampling/filters/Filters.inc"
#undef FILTER
};

}  // namespace talc
