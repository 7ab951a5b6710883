// SPDX-License-Identifier: Apache-2.0
// Takes the place of the C library's allocation.
#include "test/runtime/Allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<long> allocations{0}, allowed{-1};

// Sanitizers bring their own allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#define COUNTS_ALLOCATIONS !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define COUNTS_ALLOCATIONS 1
#endif

#if COUNTS_ALLOCATIONS
static bool refuses() {
  ++allocations;
  bool refused = allowed >= 0 && allowed-- == 0;
  if (refused)
    errno = ENOMEM;
  return refused;
}

// Visible, so that the C++ library calls them, too.
#define SEEN __attribute__((visibility("default")))
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_calloc(size_t count, size_t size);

SEEN void *malloc(size_t size) {
  return refuses() ? nullptr : __libc_malloc(size);
}
SEEN void *realloc(void *old, size_t size) {
  return refuses() ? nullptr : __libc_realloc(old, size);
}
SEEN void *calloc(size_t count, size_t size) {
  return refuses() ? nullptr : __libc_calloc(count, size);
}
SEEN void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  return refuses() ? MAP_FAILED
                   : reinterpret_cast<void *>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
}
#endif

namespace talc::test {

long allocationCount() {
  return allocations;
}

void refuseAllocation(long after) {
  allowed = after;
}

bool refusedAllocation() {
  return allowed == -1;
}

}  // namespace talc::test
