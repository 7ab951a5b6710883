// SPDX-License-Identifier: Apache-2.0
// Evaluates batches: threads, the states of sequences, the arena for temporaries, and logits.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/memory/Mapping.h"
#include "runtime/parallel/ThreadPool.h"
#include "runtime/session/Batch.h"

#include <memory>
#include <vector>

namespace talc {

class Session {
public:
  // `model` must outlive the session. No more threads are started than threadLimit().
  static Status create(const Model &model, int32_t threads, int32_t slots, std::unique_ptr<Session> &session);

  // All or nothing: on failure no sequence has changed.
  Status evaluate(const talc_sequence *sequences, int32_t count);
  // [rows][vocabulary] of a sequence of the last batch; null with 0 rows when it wanted none.
  const float *logits(int32_t sequence, int32_t &rows) const;

  int32_t slots() const { return static_cast<int32_t>(lengths.size()); }
  int32_t threads() const { return pool->size(); }
  int32_t length(int32_t slot) const { return lengths[slot]; }
  void reset(int32_t slot);
  talc_session_memory memory() const;
  const Model &usedModel() const { return model; }

  // For tools: `mark` is called on every thread with a kernel's number after each kernel, and with one of the negative
  // numbers below. Null: measures nothing.
  using Mark = void (*)(void *state, int64_t thread, int64_t kernel);
  static constexpr int64_t stepBegins = -1, barrierPassed = -2, stepEnds = -3;
  void measure(Mark mark, void *state);

private:
  explicit Session(const Model &model) : model(model) {}
  Status reserveState(int32_t slots);
  Status reserveStep();
  void runStep();

  const Model &model;
  std::unique_ptr<ThreadPool> pool;
  std::vector<int32_t> lengths;  // [slot], tokens held
  Batch batch;
  bool evaluated = false;  // the batch's logits are there
  Mark mark = nullptr;
  void *markState = nullptr;
  Mapping state, arena, output;
};

}  // namespace talc
