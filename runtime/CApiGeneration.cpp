// SPDX-License-Identifier: Apache-2.0
// Implements the section Generation of talc.h.
#include "runtime/CApiTypes.h"
#include "runtime/StructSize.h"
#include "runtime/device/Device.h"
#include "runtime/generation/Scheduler.h"

using talc::report;
using talc::Status;
using talc::wrongArgument;

struct talc_generator : talc::ApiObject {
  talc::Scheduler scheduler;
};

// Sizes of structs in the first version of talc.h.
constexpr size_t firstRequest = offsetof(talc_request, source_language),
                 firstOptions = offsetof(talc_generator_options, kept_texts),
                 firstCounts = offsetof(talc_generator_counts, cached_tokens);
constexpr int32_t mostStepTokens = 1 << 20;

namespace talc::capi {

talc_status talc_generator_create(talc_session *session, const talc_generator_options *options,
                                  talc_generator **generator, talc_error *error) try {
  if (!session || !generator)
    return wrongArgument(__func__, "session or generator is NULL", error);
  *generator = nullptr;
  talc_generator_options given;
  if (Status status = talc::readStruct(options, firstOptions, "talc_generator_options", given); status.failed())
    return report(status, error);
  if (given.step_tokens < 0 || given.step_tokens > mostStepTokens)
    return wrongArgument(__func__, "step_tokens must be 1 to 2^20, or 0 for the default", error);
  if (given.kept_texts < 0)
    return wrongArgument(__func__, "kept_texts is negative", error);
  if (session->session->usedModel().kind() == talc::artifact::ModelKind::Encoder)
    return report(Status::failure(TALC_ERROR_KIND, "%s: is an encoder, which generates no text; use talc_evaluate",
                                  session->session->usedModel().name().c_str()),
                  error);
  int32_t tokens = given.step_tokens ? given.step_tokens : talc::defaultStepTokens;
  *generator = new talc_generator{{},
                                  talc::Scheduler(*session->session, session->scratch, static_cast<size_t>(tokens),
                                                  static_cast<size_t>(given.kept_texts))};
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_generator_destroy(talc_generator *generator) {
  delete generator;
}

static Status readRequest(const talc::Model &model, const talc_request *given, talc::Request &request) {
  talc_request whole;
  if (Status status = talc::readStruct(given, firstRequest, "talc_request", whole); status.failed())
    return status;
  return talc::makeRequest(model, whole, request);
}

talc_status talc_generator_submit(talc_generator *generator, const talc_request *request, int64_t *number,
                                  talc_error *error) try {
  if (number)
    *number = 0;
  if (!generator || !request)
    return wrongArgument(__func__, "generator or request is NULL", error);
  talc::Request submitted;
  if (Status status = readRequest(generator->scheduler.model(), request, submitted); status.failed())
    return report(status, error);
  int64_t requestNumber = 0;
  Status status = generator->scheduler.submit(std::move(submitted), requestNumber);
  if (number && !status.failed())
    *number = requestNumber;
  return report(status, error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_generator_cancel(talc_generator *generator, int64_t number, talc_error *error) try {
  if (!generator || number < 1)
    return wrongArgument(__func__, "generator is NULL, or there is no such request", error);
  generator->scheduler.cancel(number);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

static int32_t countUnfinished(const talc_generator *generator) {
  return generator ? generator->scheduler.unfinished() : 0;
}

talc_status talc_generator_wait(talc_generator *generator, int32_t milliseconds, talc_error *error) try {
  if (!generator || milliseconds < TALC_NONE)
    return wrongArgument(__func__, "generator is NULL, or milliseconds are negative and not TALC_NONE", error);
  generator->scheduler.wait(milliseconds);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_generator_step(talc_generator *generator, int32_t *unfinished, talc_error *error) try {
  if (unfinished)
    *unfinished = 0;
  if (!generator)
    return wrongArgument(__func__, "generator is NULL", error);
  Status status = generator->scheduler.step();
  if (unfinished)
    *unfinished = countUnfinished(generator);
  return report(status, error);
} catch (...) {
  if (unfinished)
    *unfinished = countUnfinished(generator);
  return talc::refusedMemory(error);
}

talc_status talc_generator_get_counts(const talc_generator *generator, talc_generator_counts *counts,
                                      talc_error *error) try {
  if (!generator || !counts)
    return wrongArgument(__func__, "generator or counts is NULL", error);
  return report(talc::writeStruct(generator->scheduler.counts(), firstCounts, "talc_generator_counts", counts), error);
} catch (...) {
  return talc::refusedMemory(error);
}

// ---- One request alone

namespace {

// Wraps the callback of a request, to learn how the request ended.
struct Relay {
  talc_on_event onEvent;
  void *user;
  talc_status status;
  talc_error *error;
};

}  // namespace

static int32_t relay(void *user, const talc_event *event) {
  auto *relay = static_cast<Relay *>(user);
  if (event->error) {
    relay->status = event->error->status;
    if (relay->error)
      *relay->error = *event->error;
  }
  return relay->onEvent ? relay->onEvent(relay->user, event) : 0;
}

talc_status talc_generate(talc_model *model, const talc_request *request, talc_error *error) try {
  if (!model || !request)
    return wrongArgument(__func__, "model or request is NULL", error);
  talc::Request made;
  if (Status status = readRequest(model->model, request, made); status.failed())
    return report(status, error);
  Relay between = {made.onEvent, made.user, TALC_OK, error};
  made.onEvent = relay;
  made.user = &between;
  std::unique_ptr<talc::Session> session;
  if (Status status = talc::Session::create(model->model, {made.slots(), talc::defaultThreads()}, session);
      status.failed())
    return report(status, error);
  talc::SamplingScratch scratch;
  talc::Scheduler scheduler(*session, scratch, talc::defaultStepTokens);
  int64_t number = 0;
  if (Status status = scheduler.submit(std::move(made), number); status.failed())
    return report(status, error);
  while (scheduler.unfinished() > 0)
    if (Status status = scheduler.step(); status.failed())
      return report(status, error);
  return between.status;
} catch (...) {
  return talc::refusedMemory(error);
}

}  // namespace talc::capi
