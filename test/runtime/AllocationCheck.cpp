// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: neither evaluating and sampling a token nor reordering allocates once the first steps are done.
#include "runtime/talc.h"
#include "test/runtime/Allocations.h"
#include "test/runtime/RuntimeChecks.h"

namespace talc::test {
namespace {

// Counts what `steps` further steps allocate, after two that may.
template <typename Step> bool checkSteps(const char *what, Step step) {
  constexpr int steps = 98;
  bool good = step() && step();
  long before = allocationCount();
  for (int i = 0; good && i < steps; ++i)
    good = step();
  long during = allocationCount() - before;
  return expect(good, what) &&
         expect(during == 0, std::to_string(during) + " allocations in 98 steps of " + std::string(what));
}

// One sequence, sampled.
bool checkSampling(talc_session *session) {
  talc_sampler *sampler = nullptr;
  talc_sampling sampling = {0.8f, 40, 0.9f, 0.01f, 1.1f, 7};
  talc_sampler_create(session, &sampling, nullptr, 0, &sampler, nullptr);
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
  talc_session_options options = {sizeof(talc_session_options), 2, 4};
  bool good = talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK &&
              talc_session_create(model, &options, &session, &error) == TALC_OK;
  good = expect(good, error.text) && checkSampling(session) && checkReordering(session);
  talc_session_destroy(session);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
