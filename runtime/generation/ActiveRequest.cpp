// SPDX-License-Identifier: Apache-2.0
// A text begins in its first slot; after its beginning is evaluated, all its slots continue it.
//
// A beam that does not exist (a forced token leaves one) is evaluated as a copy of the best one without logits: so all
// slots of a text always hold equally many tokens.
#include "runtime/generation/ActiveRequest.h"

#include "runtime/Invariant.h"
#include "runtime/generation/BeamDecoding.h"
#include "runtime/generation/SampledDecoding.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace talc {

Status ActiveRequest::create(const Model &model, Request request, int64_t id,
                             std::unique_ptr<ActiveRequest> &generation) {
  std::unique_ptr<ActiveRequest> created(new ActiveRequest(model, std::move(request), id));
  const Request &accepted = created->request;
  if (accepted.searches())
    created->continuation = std::make_unique<BeamDecoding>(model, accepted);
  else if (accepted.limit > 0)
    if (Status status = SampledDecoding::create(model, accepted, created->continuation); status.failed())
      return status;
  created->places.reserve(accepted.slots());
  created->logits.reserve(accepted.slots());
  generation = std::move(created);
  return {};
}

void ActiveRequest::place(const int32_t *slots, GenerationScratch &scratch) {
  if (continuation)
    continuation->attach(scratch);
  places.assign(slots, slots + slotCount());
}

bool ActiveRequest::collectTokens(const Session &session, std::vector<int32_t> &ids) const {
  if (!canResume() || ending == TALC_ENDING_FAILED || !isIntact(session))
    return false;
  ids.reserve(length);
  ids.assign(request.beginning.begin(), request.beginning.begin() + static_cast<ptrdiff_t>(evaluated));
  if (continuation)
    continuation->appendTokens(length - evaluated, ids);
  return ids.size() == length && length > 0;
}

talc_sequence ActiveRequest::source() const {
  talc_sequence sequence = {};
  sequence.slot = places[0];
  sequence.count = static_cast<int32_t>(request.source.size());
  sequence.ids = request.source.data();
  sequence.types = request.sourceTypes.empty() ? nullptr : request.sourceTypes.data();
  return sequence;
}

size_t ActiveRequest::addBeginning(size_t room, std::vector<talc_sequence> &step) const {
  size_t rest = request.beginning.size() - evaluated, count = std::min(rest, room);
  size_t prefix = evaluated == 0 ? request.prefix : 0;
  if (stepTokens > 0)
    count = std::min(count, stepTokens);
  if (count == 0)
    return 0;
  count = std::max(count, prefix);
  talc_sequence sequence = {};
  sequence.slot = places[0];
  sequence.count = static_cast<int32_t>(count);
  sequence.ids = request.beginning.data() + evaluated;
  sequence.prefix = static_cast<int32_t>(prefix);
  bool isLast = count == rest && continuation;
  sequence.wanted[0].rows = request.wantsLogits ? TALC_ROWS_ALL : isLast ? TALC_ROWS_LAST : TALC_ROWS_NONE;
  step.push_back(sequence);
  return count;
}

size_t ActiveRequest::addTokens(std::vector<talc_sequence> &step) const {
  for (size_t i = 0; i < places.size(); ++i) {
    bool exists = i < continuation->alive();
    talc_sequence sequence = {};
    sequence.slot = places[i];
    sequence.count = 1;
    sequence.ids = continuation->lastToken(exists ? i : 0);
    sequence.wanted[0].rows = exists ? TALC_ROWS_LAST : TALC_ROWS_NONE;
    step.push_back(sequence);
  }
  return places.size();
}

bool ActiveRequest::isIntact(const Session &session) const {
  auto holdsAll = [&](int32_t slot) { return static_cast<size_t>(session.length(slot)) == length; };
  return begins() ? holdsAll(places[0]) : std::all_of(places.begin(), places.end(), holdsAll);
}

void ActiveRequest::takeBeginning(const Session &session, int32_t first, size_t tokens) {
  talc_event event = {};
  event.kind = TALC_EVENT_PROMPT;
  if (request.wantsLogits)
    event.logits = session.result(0, first, event.logit_rows);
  event.ids = request.beginning.data() + evaluated;
  event.count = static_cast<int32_t>(tokens);
  event.cached = static_cast<int32_t>(std::exchange(cached, 0));
  evaluated += tokens;
  send(event);
}

void ActiveRequest::takeResults(const Session &session, int32_t first) {
  if (ended())
    return;
  Status status;
  if (findEnding() == TALC_ENDING_NONE && !begins())
    status = choose(session, first);
  if (status.failed())
    return fail(status);
  if (talc_ending found = findEnding(); found != TALC_ENDING_NONE)
    end(found, {});
}

Status ActiveRequest::choose(const Session &session, int32_t first) {
  const size_t width = session.usedModel().info().vocabularySize;
  logits.clear();
  for (size_t i = 0; i < continuation->alive(); ++i) {
    int32_t rows = 0;
    const float *results = session.result(0, first + static_cast<int32_t>(i), rows);
    if (rows < 1)
      return defect("ActiveRequest::choose", "each sequence of a text has logits");
    logits.push_back(results + size_t(rows - 1) * width);
  }
  talc_event event = {};
  event.kind = TALC_EVENT_TOKEN;
  if (Status status = continuation->choose(logits.data(), event); status.failed())
    return status;
  if (event.count > 0)
    send(event);
  return {};
}

// Why the text ends now.
talc_ending ActiveRequest::findEnding() const {
  if (continuation && continuation->ending() != TALC_ENDING_NONE)
    return continuation->ending();
  if (unwanted)
    return TALC_ENDING_CANCELLED;
  return begins() || continuation ? TALC_ENDING_NONE : TALC_ENDING_LIMIT;
}

void ActiveRequest::addReorder(std::vector<int32_t> &slots, std::vector<int32_t> &parents) const {
  for (size_t i = 0; i < places.size() && places.size() > 1; ++i) {
    bool exists = i < continuation->alive();
    slots.push_back(places[i]);
    parents.push_back(places[continuation->parent(exists ? i : 0)]);
  }
}

void ActiveRequest::end(talc_ending why, const Status &status) {
  talc_error error = {};
  error.status = status.code();
  strncpy(error.text, status.text().c_str(), sizeof(error.text) - 1);
  talc_event event = {};
  event.kind = TALC_EVENT_END;
  event.ending = why;
  event.error = status.failed() ? &error : nullptr;
  if (continuation)
    continuation->finish(event);  // may throw; then nothing has ended
  ending = why;
  send(event);
}

void ActiveRequest::send(talc_event &event) {
  event.request = id;
  if (!event.text)
    event.text = "";
  if (request.onEvent && request.onEvent(request.user, &event) != 0)
    unwanted = true;
}

}  // namespace talc
