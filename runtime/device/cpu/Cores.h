// SPDX-License-Identifier: Apache-2.0
// How many processors this process may use, by affinity and by the CPU quota of its control group, and how many
// threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc {

// Hardware threads, at least 1.
int32_t usableProcessors();

// Physical cores among them, at least 1: the second hardware thread of a core adds little to arithmetic. Where some
// cores are much slower than others they do not count, since all wait for the slowest at a barrier; the system gives
// busy threads the fast ones.
int32_t usableCores();

// The same of these processors. `system`: what describes them, as /sys/devices/system/cpu.
int32_t fastCores(const std::vector<int> &processors, const std::string &system);

// All processors that run, whoever may use them.
int32_t onlineProcessors();

// How many other threads run or want to right now, in the whole system; 0 if it does not tell. Allocates nothing.
int32_t otherRunningThreads();

// The most threads that a step runs on, at least 1: usableProcessors(), or what the environment variable
// TALC_MAX_THREADS says. Every thread has a share of a step, of which others do only a part, so that with more threads
// than processors all wait for the one that waits for a processor.
int32_t threadLimit();

// Whether TALC_MAX_THREADS has said so: then every step runs on all threads of its session, whatever else runs.
bool threadsAreFixed();

}  // namespace talc
