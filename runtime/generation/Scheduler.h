// SPDX-License-Identifier: Apache-2.0
// Serves requests on one session by continuous batching: assigns slots, composes steps, and distributes results.
#pragma once

#include "runtime/generation/RequestQueue.h"

#include <deque>

namespace talc {

class Scheduler {
public:
  // Uses all slots of the session, which nobody else may use; `stepTokens` bounds the tokens of a step.
  Scheduler(Session &session, SamplingScratch &scratch, size_t stepTokens);
  // Drops unfinished requests without events.
  ~Scheduler();

  // Any thread may call these two at any time.
  Status submit(Request request, int64_t &number);
  void cancel(int64_t number) { queue.cancel(number); }

  // Runs one step; `unfinished` becomes the number of requests that have not ended. On failure every request is where
  // it was.
  Status step(int32_t &unfinished);

  const Model &model() const { return session.usedModel(); }
  const talc_generator_counts &counts() const { return count; }

private:
  // The part of a request in a step.
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
  Status encode();
  void collect();
  void collectTokens(size_t &room);
  void collectBeginnings(size_t room);
  Status evaluate();
  void distribute();
  void reorder();
  void retire();

  Session &session;
  GenerationScratch scratch;
  const size_t stepTokens;
  RequestQueue queue;
  std::deque<std::unique_ptr<ActiveRequest>> waiting;   // no slots yet
  std::vector<std::unique_ptr<ActiveRequest>> running;  // in the order in which they got slots
  std::vector<int32_t> freeSlots;                       // descending
  size_t waitingSlots = 0;                              // that the waiting requests need
  size_t turn = 0;                                      // the request whose token comes first in the next step
  talc_generator_counts count = {};

  // Kept for their memory.
  std::vector<std::unique_ptr<ActiveRequest>> arrived;
  std::vector<int64_t> cancelled;
  std::vector<talc_sequence> batch;
  std::vector<Part> parts;
  std::vector<int32_t> slots, parents;
};

}  // namespace talc
