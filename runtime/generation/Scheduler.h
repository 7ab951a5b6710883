// SPDX-License-Identifier: Apache-2.0
// Serves requests on one session by continuous batching: assigns slots, composes steps, and distributes results.
#pragma once

#include "runtime/generation/PrefixCache.h"
#include "runtime/generation/RequestQueue.h"

#include <list>

namespace talc {

class Scheduler {
public:
  // Uses all slots of the session, which nobody else may use; `stepTokens` bounds the tokens of a step, and `keptTexts`
  // how many texts stay when they have ended.
  Scheduler(Session &session, SamplingScratch &scratch, size_t stepTokens, size_t keptTexts = 0);
  // Drops unfinished requests without events.
  ~Scheduler();

  // Any thread may call these two at any time.
  Status submit(Request request, int64_t &number);
  void cancel(int64_t number) { queue.cancel(number); }

  // Waits until there is something to do, or so many milliseconds; TALC_NONE: as long as it takes.
  void wait(int32_t milliseconds);
  // Runs one step. If it fails or throws, no request has lost anything, and the next call goes on with the same step.
  Status step();
  // The number of requests that have not ended.
  int32_t unfinished() const;

  const Model &model() const { return session.usedModel(); }
  const talc_generator_counts &counts() const { return count; }

private:
  // The part of a request in a step. `begins`: results of a beginning have to be taken.
  struct Part {
    ActiveRequest *generation;
    int32_t firstSequence;
    size_t tokens;
    bool begins;
  };

  void receive();
  void cancelNow(int64_t number);
  void admit();
  bool hasRoomForNext() const;
  void placeNext();
  void release(const ActiveRequest &generation);
  Status checkAccounts();
  Status encode();
  void collect();
  void collectTokens(size_t &room);
  void collectBeginnings(size_t room);
  Status evaluate();
  Status evaluateBatch();
  Status distribute();
  Status reorder();
  void retire();

  Session &session;
  GenerationScratch scratch;
  const size_t stepTokens;
  RequestQueue queue;
  std::list<std::unique_ptr<ActiveRequest>> waiting;    // no slots yet
  std::vector<std::unique_ptr<ActiveRequest>> running;  // in the order in which they got slots
  PrefixCache kept;                                     // texts that have ended
  std::vector<int32_t> freeSlots;                       // the last is taken next
  size_t waitingSlots = 0;                              // that the waiting requests need
  size_t turn = 0, nextTurn = 0;                        // the request whose token comes first in a step
  talc_generator_counts count = {};

  // Requests that came from the queue and do not wait yet, and numbers of those to be cancelled.
  std::list<std::unique_ptr<ActiveRequest>> arrived;
  std::list<int64_t> cancelled;

  // A step. Lists have room for all slots.
  bool isEvaluated = false;  // not all of its results are taken
  size_t nextPart = 0;       // the first part whose results are not
  std::vector<talc_sequence> batch;
  std::vector<Part> parts;
  std::vector<int32_t> slots, parents;
};

}  // namespace talc
