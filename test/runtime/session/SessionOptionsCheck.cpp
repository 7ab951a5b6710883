// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: a session's own memory, and steps that end early: at whichever barrier, on any number of threads, the
// session is as it was. ARTIFACT is a decoder.
#include "test/runtime/RuntimeChecks.h"

#include <cstdlib>
#include <cstring>

namespace talc::test {
namespace {

using Logits = std::vector<float>;

Logits evaluate(const talc_model *model, talc_session *session, int32_t slot, talc_status expected = TALC_OK) {
  const std::vector<int32_t> ids = {5, 7, 9, 2, 3, 1, 8, 4, 6, 5, 5, 7};
  talc_model_info info = {};
  talc_model_get_info(model, &info, nullptr);
  talc_error error = {};
  talc_sequence sequence = tokens(slot, static_cast<int32_t>(ids.size()), ids.data());
  talc_status status = talc_evaluate(session, &sequence, 1, &error);
  if (!expect(status == expected, "evaluating: " + std::to_string(status) + " " + error.text) || status != TALC_OK)
    return {};
  const float *logits = talc_logits(session, 0, nullptr);
  return Logits(logits, logits + info.results[0].width);
}

// ---- Memory

struct Heap {
  uint64_t used = 0, limit = UINT64_MAX;
  int blocks = 0, wrong = 0;
};

void *allocate(void *user, uint64_t size, uint64_t alignment) {
  auto &heap = *static_cast<Heap *>(user);
  if (heap.used + size > heap.limit)
    return nullptr;
  void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  memset(memory, 0xa5, size);
  heap.used += size;
  ++heap.blocks;
  return memory;
}

void release(void *user, void *memory, uint64_t size) {
  auto &heap = *static_cast<Heap *>(user);
  heap.used -= size;
  --heap.blocks;
  heap.wrong += memory == nullptr;
  free(memory);
}

bool checkAllocator(const talc_model *model, const Logits &expected) {
  Heap heap;
  talc_allocator allocator = {allocate, release, &heap};
  talc_session_options options = {};
  options.threads = options.slots = 2;
  options.allocator = &allocator;
  talc_session *session = nullptr;
  talc_session_memory memory = {};
  talc_error e = {};
  bool good = expect(talc_session_create(model, &options, &session, &e) == TALC_OK, e.text);
  good = good && expect(evaluate(model, session, 1) == expected, "logits in memory of an allocator");
  talc_session_get_memory(session, &memory, nullptr, nullptr);
  good = good &&
         expect(heap.used == memory.state_reserved + memory.arena + memory.logits, "all memory is the allocator's");
  talc_slot_reset(session, 1, nullptr);
  good = good && expect(evaluate(model, session, 0) == expected, "logits in another slot");
  talc_session_destroy(session);
  good = good && expect(heap.used == 0 && heap.blocks == 0 && heap.wrong == 0, "all memory comes back");
  heap.limit = 100;
  good &= fails(talc_session_create(model, &options, &session, &e), TALC_ERROR_MEMORY, e, "the KV cache");
  allocator.release = nullptr;
  return fails(talc_session_create(model, &options, &session, &e), TALC_ERROR_ARGUMENT, e, "lacks a function") && good;
}

// ---- Aborting

struct Patience {
  int asked = 0, limit = 1 << 30;
};

int32_t isOver(void *user) {
  auto &patience = *static_cast<Patience *>(user);
  return ++patience.asked > patience.limit;
}

bool checkAborting(const talc_model *model, int32_t threads, const Logits &expected) {
  Patience patience;
  talc_session_options options = {};
  options.threads = threads;
  options.should_abort = isOver;
  options.abort_user = &patience;
  talc_session *session = nullptr;
  talc_error e = {};
  if (!expect(talc_session_create(model, &options, &session, &e) == TALC_OK, e.text))
    return false;
  bool good = expect(evaluate(model, session, 0) == expected, "a step that is let go on");
  const int barriers = patience.asked;
  good &= expect(barriers > 0, "somebody is asked");
  for (int limit = 0; good && limit < barriers; ++limit) {
    talc_slot_reset(session, 0, nullptr);
    patience = {0, limit};
    evaluate(model, session, 0, TALC_ERROR_ABORTED);
    good &=
        expect(patience.asked == limit + 1 && talc_slot_length(session, 0) == 0 && !talc_logits(session, 0, nullptr),
               "after a step that ended");
    patience = {};
    good &= expect(evaluate(model, session, 0) == expected, "the step again");
  }
  talc_session_destroy(session);
  return good;
}

}  // namespace

bool checkSessionOptions(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_error error = {};
  talc_session *session = nullptr;
  if (!expect(talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK &&
                  talc_session_create(model, nullptr, &session, &error) == TALC_OK,
              error.text))
    return false;
  const Logits expected = evaluate(model, session, 0);
  bool good = checkAllocator(model, expected);
  for (int32_t threads : {1, 2, 5})
    good &= checkAborting(model, threads, expected);
  talc_session_destroy(session);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
