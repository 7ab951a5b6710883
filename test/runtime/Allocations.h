// SPDX-License-Identifier: Apache-2.0
// Counts allocations of this program (malloc, mmap), and refuses one. Not with sanitizers.
#pragma once

namespace talc::test {

long allocationCount();
// Of the allocations that follow, the one behind `after` others fails; negative: none does.
void refuseAllocation(long after);
// Whether it has.
bool refusedAllocation();

}  // namespace talc::test
