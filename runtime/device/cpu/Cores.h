// SPDX-License-Identifier: Apache-2.0
// Tells how many CPUs this process may use, by affinity and by the CPU quota of its control group, and how many
// threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc {

// Hardware threads, at least 1.
int32_t usableProcessors();

// The physical cores among them, at least 1: the second hardware thread of a core adds little to arithmetic. Cores that
// are much slower than others do not count, since all wait for the slowest at a barrier; the system runs busy threads
// on the fast ones.
int32_t usableCores();

// Counts those of these CPUs. `system`: the folder that describes them, like /sys/devices/system/cpu.
int32_t fastCores(const std::vector<int> &processors, const std::string &system);

// All CPUs that are online, whoever may use them.
int32_t onlineProcessors();

// The number of other threads in the system that run or want to right now; 0 if it does not tell. Allocates nothing.
int32_t otherRunningThreads();

// The most threads that a step runs on, at least 1: usableProcessors(), or the environment variable TALC_MAX_THREADS.
// With more threads than CPUs, every step would wait for threads that wait for a CPU.
int32_t threadLimit();

// Whether TALC_MAX_THREADS is set: then every step runs on all threads of its session, whatever else runs.
bool threadsAreFixed();

}  // namespace talc
