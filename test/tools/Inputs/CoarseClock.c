// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the clock of a thread's CPU time goes on by milliseconds, as some systems' does.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  long result = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_THREAD_CPUTIME_ID)
    time->tv_nsec -= time->tv_nsec % 1000000;
  return (int)result;
}
