// SPDX-License-Identifier: Apache-2.0
// Continuous batching: a step mixes texts that continue with beginnings of others:
//
//   inbox --receive--> waiting --admit--> running --retire--> (gone)
//                                  |         ^
//                               sources      |      one ragged step, at most stepTokens tokens
//                                  v         |   [a][b][c c c c][d][e e e e e e e e e e e e ...]
//                                encode   collect, evaluate, distribute, reorder
//
// Texts that continue come first, since each needs one token only; beginnings take the rest of the step: the oldest
// half of it, the next half of what is left, and so on, so that a long prompt does not hold up short ones. When there
// are more texts than a step has tokens, they take turns. What cannot be divided, a prefix or a source, is evaluated as
// a whole even where it is longer than a step. No result depends on any of this.
//
// Whatever can fail in a step can be done again: results stay there until every request has taken its own, and
// callers hear of everything once.
#include "runtime/generation/Scheduler.h"

#include "runtime/Invariant.h"

#include <algorithm>
#include <new>
#include <time.h>
#include <utility>

namespace talc {

static double secondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Scheduler::Scheduler(Session &session, SamplingScratch &scratch, size_t stepTokens, size_t keptTexts)
    : session(session), scratch{scratch}, stepTokens(stepTokens), kept(session, keptTexts) {
  const auto slotCount = static_cast<size_t>(session.slots());
  running.reserve(slotCount), freeSlots.reserve(slotCount), batch.reserve(slotCount), parts.reserve(slotCount);
  slots.reserve(slotCount), parents.reserve(slotCount);
  for (int32_t slot = session.slots(); slot-- > 0;) {
    session.reset(slot);
    freeSlots.push_back(slot);
  }
}

Scheduler::~Scheduler() {
  for (const auto &generation : running)
    for (int32_t slot : generation->slots())
      session.reset(slot);
  while (kept.size() > 0)
    kept.evict();
}

Status Scheduler::submit(Request request, int64_t &number) {
  if (request.slots() > session.slots())
    return Status::failure(TALC_ERROR_BATCH, "%s: request: %d beams need as many slots, but the session has %d",
                           session.usedModel().name().c_str(), request.slots(), session.slots());
  if (Status status = request.searches() ? session.checkReorderable() : Status(); status.failed())
    return status;
  return queue.submit(session.usedModel(), std::move(request), number);
}

Status Scheduler::step() {
  receive();
  if (Status status = isEvaluated ? Status() : evaluate(); status.failed())
    return status;
  return distribute();
}

void Scheduler::wait(int32_t milliseconds) {
  if (unfinished() > 0)
    return;
  if (milliseconds == TALC_NONE)
    queue.wait();
  else
    queue.wait(std::chrono::milliseconds(milliseconds));
}

int32_t Scheduler::unfinished() const {
  auto isServed = [](const std::unique_ptr<ActiveRequest> &generation) { return !generation->ended(); };
  size_t served = std::count_if(running.begin(), running.end(), isServed);
  return static_cast<int32_t>(served + waiting.size() + arrived.size() + queue.waiting());
}

// ---- Who is served

void Scheduler::receive() {
  queue.take(arrived, cancelled);
  for (const auto &generation : arrived)
    waitingSlots += generation->slotCount();
  waiting.splice(waiting.end(), arrived);
  for (; !cancelled.empty(); cancelled.pop_front())
    cancelNow(cancelled.front());
}

// Ignores requests that have ended or never existed.
void Scheduler::cancelNow(int64_t number) {
  auto isMeant = [number](const std::unique_ptr<ActiveRequest> &generation) { return generation->number() == number; };
  if (auto match = std::find_if(running.begin(), running.end(), isMeant); match != running.end() && !(*match)->ended())
    (*match)->cancel();
  if (auto match = std::find_if(waiting.begin(), waiting.end(), isMeant); match != waiting.end()) {
    (*match)->cancel();
    waitingSlots -= (*match)->slotCount();
    waiting.erase(match);
  }
}

// When more requests wait than there are slots, several slots are refilled at a time: short steps are slow.
bool Scheduler::hasRoomForNext() const {
  size_t nextSlots = waiting.front()->slotCount();
  return freeSlots.size() + kept.size() >= std::max(nextSlots, std::min<size_t>(waitingSlots, session.slots() / 4));
}

void Scheduler::admit() {
  if (waiting.empty() || !hasRoomForNext())
    return;
  while (!waiting.empty() && static_cast<size_t>(waiting.front()->slotCount()) <= freeSlots.size() + kept.size())
    placeNext();
}

// Gives the first request that waits the slot of a text that begins as its own, or free slots; kept texts give way.
void Scheduler::placeNext() {
  ActiveRequest &next = *waiting.front();
  const auto slotCount = static_cast<size_t>(next.slotCount());
  const PrefixCache::Found prefix = next.canResume() ? kept.take(next.beginning()) : PrefixCache::Found();
  if (prefix.slot >= 0)
    freeSlots.push_back(prefix.slot);
  while (freeSlots.size() < slotCount)
    freeSlots.push_back(kept.evict());
  slots.assign(freeSlots.rbegin(), freeSlots.rbegin() + static_cast<ptrdiff_t>(slotCount));
  try {
    next.place(slots.data(), scratch);
  } catch (...) {  // it can be placed later, in empty slots
    session.reset(slots[0]);
    throw;
  }
  next.resume(prefix.tokens);
  count.cached_tokens += prefix.tokens;
  waitingSlots -= slotCount;
  freeSlots.resize(freeSlots.size() - slotCount);
  running.push_back(std::move(waiting.front()));
  waiting.pop_front();
}

// Whether every slot is free, keeps a text or has one request, whose tokens it holds. A request whose slots somebody
// else has changed ends.
Status Scheduler::checkAccounts() {
  size_t used = 0;
  for (const auto &generation : running) {
    used += generation->slots().size();
    if (!generation->ended() && !generation->isIntact(session))
      generation->fail(defect("Scheduler::checkAccounts", "the slots of a request hold its tokens"));
  }
  const bool addsUp = used + freeSlots.size() + kept.size() == static_cast<size_t>(session.slots());
  return require(addsUp && kept.isIntact(), "Scheduler::checkAccounts",
                 "every slot is free, keeps a text or has one request");
}

// ---- Sources

Status Scheduler::encode() {
  double begin = secondsNow();
  for (size_t next = 0; next < running.size();) {
    size_t first = next, tokens = 0;
    batch.clear();
    for (; next < running.size(); ++next)
      if (running[next]->needsSource() && !running[next]->ended()) {
        talc_sequence source = running[next]->source();
        if (!batch.empty() && tokens + source.count > stepTokens)
          break;
        tokens += source.count;
        batch.push_back(source);
      }
    if (batch.empty())
      break;
    if (Status status = session.encode(batch.data(), static_cast<int32_t>(batch.size())); status.failed())
      return status;
    for (size_t i = first; i < next; ++i)
      running[i]->sourceIsThere();
    count.source_tokens += tokens;
    count.prompt_seconds += secondsNow() - begin;
    begin = secondsNow();
  }
  return {};
}

// ---- A step

void Scheduler::collect() {
  batch.clear(), parts.clear();
  size_t room = stepTokens;
  collectTokens(room);
  collectBeginnings(room);
}

// Texts take turns where they are too many; a part of the step is kept for beginnings, if there are any.
void Scheduler::collectTokens(size_t &room) {
  auto waits = [](const std::unique_ptr<ActiveRequest> &one) { return !one->ended() && one->begins(); };
  size_t reserved = std::any_of(running.begin(), running.end(), waits) ? stepTokens / 4 : 0, size = running.size();
  for (size_t i = 0, start = turn; i < size; ++i) {
    size_t place = (start + i) % size;
    ActiveRequest &generation = *running[place];
    if (generation.begins() || generation.ended())
      continue;
    size_t tokens = generation.slotCount();
    if (!batch.empty() && room < reserved + tokens) {
      nextTurn = place;
      return;
    }
    parts.push_back({&generation, static_cast<int32_t>(batch.size()), generation.addTokens(batch), false});
    room -= std::min(room, tokens);
  }
  nextTurn = 0;
}

void Scheduler::collectBeginnings(size_t room) {
  auto waits = [](const std::unique_ptr<ActiveRequest> &one) { return !one->ended() && one->begins(); };
  auto others = std::count_if(running.begin(), running.end(), waits);
  for (const auto &generation : running)
    if (waits(generation)) {
      auto first = static_cast<int32_t>(batch.size());
      size_t share = --others > 0 ? (room + 1) / 2 : room, tokens = generation->addBeginning(share, batch);
      if (tokens == 0)
        return;
      parts.push_back({generation.get(), first, tokens, true});
      room -= std::min(room, tokens);
    }
}

Status Scheduler::evaluate() {
  admit();
  if (Status status = checkAccounts(); status.failed())
    return status;
  if (Status status = encode(); status.failed())
    return status;
  collect();
  return batch.empty() ? Status() : evaluateBatch();
}

// The time of a step is divided among the tokens of beginnings and of continuations.
Status Scheduler::evaluateBatch() {
  double begin = secondsNow();
  if (Status status = session.evaluate(batch.data(), static_cast<int32_t>(batch.size())); status.failed()) {
    for (const Part &part : parts)  // a device that failed may have lost slots
      if (!part.generation->isIntact(session))
        part.generation->fail(status);
    return status;
  }
  isEvaluated = true;
  nextPart = 0;
  turn = nextTurn;
  size_t promptTokens = 0, newTokens = 0;
  for (const Part &part : parts) {
    (part.begins ? promptTokens : newTokens) += part.tokens;
    part.generation->appended(part.begins ? part.tokens : 1);
  }
  double seconds = (secondsNow() - begin) / static_cast<double>(promptTokens + newTokens);
  count.prompt_tokens += promptTokens;
  count.prompt_seconds += seconds * static_cast<double>(promptTokens);
  count.new_tokens += newTokens;
  count.new_seconds += seconds * static_cast<double>(newTokens);
  return {};
}

// Goes on where an earlier call has failed.
Status Scheduler::distribute() {
  for (; isEvaluated && nextPart < parts.size(); ++nextPart) {
    Part &part = parts[nextPart];
    if (std::exchange(part.begins, false) && !part.generation->ended())
      part.generation->takeBeginning(session, part.firstSequence, part.tokens);
    part.generation->takeResults(session, part.firstSequence);
  }
  if (Status status = isEvaluated ? reorder() : Status(); status.failed())
    return status;
  isEvaluated = false;
  retire();
  return {};
}

// Fails when memory is refused, which may be there later; whatever else fails, requests do.
Status Scheduler::reorder() {
  slots.clear(), parents.clear();
  auto isMeant = [](const Part &part) { return !part.generation->ended() && !part.generation->begins(); };
  for (const Part &part : parts)
    if (isMeant(part))
      part.generation->addReorder(slots, parents);
  if (slots.empty())
    return {};
  Status status = session.reorder(slots.data(), parents.data(), static_cast<int32_t>(slots.size()));
  if (status.code() == TALC_ERROR_MEMORY)
    return status;
  for (const Part &part : parts)
    if (status.failed() && isMeant(part) && part.generation->slotCount() > 1)
      part.generation->fail(status);
  return {};
}

void Scheduler::retire() {
  auto isOver = [](const std::unique_ptr<ActiveRequest> &generation) { return generation->ended(); };
  if (std::none_of(running.begin(), running.end(), isOver))
    return;
  count.most_state = std::max(count.most_state, session.memory().state_used);
  for (const auto &generation : running)
    if (isOver(generation))
      release(*generation);
  running.erase(std::remove_if(running.begin(), running.end(), isOver), running.end());
  std::sort(freeSlots.begin(), freeSlots.end(), [](int32_t a, int32_t b) { return a > b; });
}

// Nothing is lost when memory is refused: then the text is not kept.
void Scheduler::release(const ActiveRequest &generation) try {
  if (std::vector<int32_t> ids; kept.keepsTexts() && generation.collectTokens(session, ids)) {
    if (int32_t slot = kept.keep(generation.slots()[0], std::move(ids)); slot >= 0)
      freeSlots.push_back(slot);
    return;
  }
  for (int32_t slot : generation.slots()) {
    session.reset(slot);
    freeSlots.push_back(slot);
  }
} catch (const std::bad_alloc &) {
  session.reset(generation.slots()[0]);
  freeSlots.push_back(generation.slots()[0]);
}

}  // namespace talc
