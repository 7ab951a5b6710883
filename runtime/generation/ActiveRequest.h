// SPDX-License-Identifier: Apache-2.0
// One request that is being served: its source, its beginning, its continuation, and the events for its caller.
#pragma once

#include "runtime/generation/DecodingStrategy.h"
#include "runtime/generation/Request.h"
#include "runtime/session/Session.h"

#include <memory>

namespace talc {

// Until `place` gives it slots any thread may use it, afterwards only the scheduler's.
class ActiveRequest {
public:
  // Allocates all memory that the request will need.
  static Status create(const Model &model, Request request, int64_t id, std::unique_ptr<ActiveRequest> &generation);

  int64_t number() const { return id; }
  int32_t slotCount() const { return request.slots(); }
  const std::vector<int32_t> &slots() const { return places; }
  // `slots` are empty, as many as slotCount(). Can be called again when it throws.
  void place(const int32_t *slots, GenerationScratch &scratch);

  // Whether the text may go on from tokens that another request has left in a slot: nothing but its tokens matters.
  bool canResume() const {
    return slotCount() == 1 && request.source.empty() && request.prefix == 0 && !request.wantsLogits;
  }
  // The beginning is there up to so many tokens, in the slot that `place` was given.
  void resume(size_t tokens) { evaluated = length = cached = tokens; }
  const std::vector<int32_t> &beginning() const { return request.beginning; }
  // Stores all tokens that the slot holds; false if it holds something else, or the request failed.
  bool collectTokens(const Session &session, std::vector<int32_t> &ids) const;

  // The source, which must be encoded as a whole before anything else.
  bool needsSource() const { return !request.source.empty() && !encoded; }
  talc_sequence source() const;
  void sourceIsThere() { encoded = true; }

  // Adds what is to be evaluated next to a step: as much of the beginning as there is `room` for, or a token of each
  // sequence. Returns how many tokens were added. A prefix is added as a whole.
  bool begins() const { return evaluated < request.beginning.size(); }
  size_t addBeginning(size_t room, std::vector<talc_sequence> &step) const;
  size_t addTokens(std::vector<talc_sequence> &step) const;

  // Records that what was added has been evaluated: so many tokens in each slot.
  void appended(size_t tokens) { length += tokens; }
  // Whether the slots hold the tokens that were evaluated.
  bool isIntact(const Session &session) const;

  // Take the results of what was added; `first` is the index of its first sequence. First come those of a beginning,
  // once they are there, then what follows from the last results. The latter can be called again when it throws.
  void takeBeginning(const Session &session, int32_t first, size_t tokens);
  void takeResults(const Session &session, int32_t first);

  // Adds which slots continue which, after tokens were taken.
  void addReorder(std::vector<int32_t> &slots, std::vector<int32_t> &parents) const;

  bool ended() const { return ending != TALC_ENDING_NONE; }
  void cancel() { end(TALC_ENDING_CANCELLED, {}); }
  void fail(const Status &status) { end(TALC_ENDING_FAILED, status); }

private:
  ActiveRequest(const Model &model, Request request, int64_t id)
      : request(std::move(request)), id(id), stepTokens(model.info().stepTokens) {}
  Status choose(const Session &session, int32_t first);
  talc_ending findEnding() const;
  void end(talc_ending why, const Status &status);
  void send(talc_event &event);

  const Request request;
  const int64_t id;
  const size_t stepTokens;                         // the most tokens of a sequence in a step; 0: any number
  std::unique_ptr<DecodingStrategy> continuation;  // null when nothing follows the beginning
  std::vector<int32_t> places;                     // slots
  std::vector<const float *> logits;               // of a step
  size_t evaluated = 0;                            // tokens of the beginning
  size_t length = 0;                               // tokens in each slot that is used
  size_t cached = 0;                               // of them, those that were there before
  bool encoded = false, unwanted = false;
  talc_ending ending = TALC_ENDING_NONE;
};

}  // namespace talc
