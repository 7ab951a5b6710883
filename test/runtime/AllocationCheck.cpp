// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: evaluating and sampling one token allocates nothing once the first steps are done.
#include "runtime/talc.h"
#include "test/runtime/RuntimeChecks.h"

#include <atomic>
#include <cstddef>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<long> allocations{0};

// Sanitizers bring their own allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#define COUNTS_ALLOCATIONS !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define COUNTS_ALLOCATIONS 1
#endif

#if COUNTS_ALLOCATIONS
// These take the place of the C library's functions in this program.
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_calloc(size_t count, size_t size);

void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void *realloc(void *old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  ++allocations;
  return reinterpret_cast<void *>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
}
#endif

namespace talc::test {

bool checkAllocations(const Arguments &arguments) {
  talc_error error = {};
  talc_model *model = nullptr;
  talc_session *session = nullptr;
  talc_sampler *sampler = nullptr;
  talc_session_options options = {2, 1};
  talc_sampling sampling = {0.8f, 40, 0.9f, 0.01f, 1.1f, 7};
  bool ready = talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK &&
               talc_session_create(model, &options, &session, &error) == TALC_OK &&
               talc_sampler_create(model, &sampling, &sampler, &error) == TALC_OK;
  bool good = expect(ready, error.text);
  int32_t id = 5;
  long before = 0;
  for (int step = 0; good && step < 100; ++step) {
    if (step == 2)
      before = allocations;
    talc_sequence sequence = tokens(0, 1, &id);
    good = talc_evaluate(session, &sequence, 1, &error) == TALC_OK &&
           talc_sample(sampler, talc_logits(session, 0, nullptr), &id, &error) == TALC_OK;
  }
  long during = allocations - before;
  good = expect(good, error.text) && expect(during == 0, std::to_string(during) + " allocations in 98 steps");
  talc_sampler_destroy(sampler);
  talc_session_destroy(session);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
