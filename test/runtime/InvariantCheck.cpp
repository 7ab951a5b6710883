// SPDX-License-Identifier: Apache-2.0
// ARTIFACT, a decoder: where a caller changes slots that somebody else relies on, the result is DEFECT and not another
// text.
#include "test/runtime/RuntimeChecks.h"

namespace talc::test {
namespace {

talc_session *used = nullptr;  // by the callbacks, against the rules

int32_t resetsSlot(void *) {
  talc_slot_reset(used, 0, nullptr);
  return 0;
}

int32_t keepEnding(void *user, const talc_event *event) {
  if (event->kind == TALC_EVENT_END)
    *static_cast<talc_status *>(user) = event->error ? event->error->status : TALC_OK;
  return 0;
}

bool checkStep(const talc_model *model) {
  talc_session_options options = {};
  options.threads = 2;
  options.should_abort = resetsSlot;
  talc_error error = {};
  const int32_t ids[] = {5, 6, 7};
  talc_sequence sequence = tokens(0, 3, ids);
  bool good = expect(talc_session_create(model, &options, &used, &error) == TALC_OK, error.text) &&
              expect(talc_evaluate(used, &sequence, 1, &error) == TALC_OK, error.text) &&
              fails(talc_evaluate(used, &sequence, 1, &error), TALC_ERROR_DEFECT, error,
                    "error[T0900]: Session::evaluate: not true that slots stay as they are");
  good &= expect(!talc_logits(used, 0, nullptr), "a defect leaves no result");
  talc_session_destroy(used);
  return good;
}

bool checkGenerator(const talc_model *model) {
  talc_session *session = nullptr;
  talc_generator *generator = nullptr;
  talc_session_options options = {};
  options.slots = 2;
  talc_error error = {};
  if (!expect(talc_session_create(model, &options, &session, &error) == TALC_OK &&
                  talc_generator_create(session, nullptr, &generator, &error) == TALC_OK,
              error.text))
    return false;
  talc_status endings[2] = {TALC_ERROR_ARGUMENT, TALC_ERROR_ARGUMENT};
  const int32_t ids[] = {5, 6, 7};
  for (talc_status &ending : endings) {
    talc_request request = {};
    request.ids = ids;
    request.count = 3;
    request.new_tokens = 6;
    request.on_event = keepEnding;
    request.user = &ending;
    talc_generator_submit(generator, &request, nullptr, &error);
  }
  int32_t unfinished = 1;
  for (int32_t step = 0; unfinished > 0; ++step) {
    if (step == 2)
      talc_slot_reset(session, 0, nullptr);
    if (!expect(talc_generator_step(generator, &unfinished, &error) == TALC_OK, error.text))
      break;
  }
  talc_generator_destroy(generator);
  talc_session_destroy(session);
  return expect(endings[0] == TALC_ERROR_DEFECT, "the text whose slot was reset ends") &&
         expect(endings[1] == TALC_OK, "the other goes on");
}

}  // namespace

bool checkInvariants(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_error error = {};
  bool good = expect(talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK, error.text) &&
              checkStep(model) && checkGenerator(model);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
