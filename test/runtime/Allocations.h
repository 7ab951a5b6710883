// SPDX-License-Identifier: Apache-2.0
// Counts allocations of this program (malloc, mmap), and refuses one, unless a sanitizer is used.
#pragma once

namespace talc::test {

long allocationCount();
// Lets the allocation fail that follows after `after` others; if negative, none fails.
void refuseAllocation(long after);
// Whether an allocation has failed so.
bool refusedAllocation();

}  // namespace talc::test
