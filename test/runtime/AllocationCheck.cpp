// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: neither evaluating and sampling a token nor reordering allocates once the first steps are done.
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
namespace {

// What `steps` further steps allocate, after two that may.
template <typename Step> bool checkSteps(const char *what, Step step) {
  constexpr int steps = 98;
  bool good = step() && step();
  long before = allocations;
  for (int i = 0; good && i < steps; ++i)
    good = step();
  long during = allocations - before;
  return expect(good, what) &&
         expect(during == 0, std::to_string(during) + " allocations in 98 steps of " + std::string(what));
}

// One sequence, sampled.
bool checkSampling(const talc_model *model, talc_session *session) {
  talc_sampler *sampler = nullptr;
  talc_sampling sampling = {0.8f, 40, 0.9f, 0.01f, 1.1f, 7};
  talc_sampler_create(model, &sampling, nullptr, 0, &sampler, nullptr);
  int32_t id = 5;
  bool good = checkSteps("sampling", [&] {
    talc_sequence sequence = tokens(0, 1, &id);
    return talc_evaluate(session, &sequence, 1, nullptr) == TALC_OK &&
           talc_sample(sampler, talc_logits(session, 0, nullptr), &id, nullptr) == TALC_OK;
  });
  talc_sampler_destroy(sampler);
  return good;
}

// Four sequences that continue each other, each step from other parents.
bool checkReordering(talc_session *session) {
  const int32_t slots[] = {0, 1, 2, 3}, parents[] = {1, 1, 3, 0}, id = 9;
  talc_slot_reset(session, 0, nullptr);
  return checkSteps("reordering", [&] {
    talc_sequence batch[4];
    for (int32_t slot : slots)
      batch[slot] = tokens(slot, 1, &id);
    return talc_evaluate(session, batch, 4, nullptr) == TALC_OK &&
           talc_reorder(session, slots, parents, 4, nullptr) == TALC_OK;
  });
}

}  // namespace

bool checkAllocations(const Arguments &arguments) {
  talc_error error = {};
  talc_model *model = nullptr;
  talc_session *session = nullptr;
  talc_session_options options = {2, 4};
  bool good = talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK &&
              talc_session_create(model, &options, &session, &error) == TALC_OK;
  good = expect(good, error.text) && checkSampling(model, session) && checkReordering(session);
  talc_session_destroy(session);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
