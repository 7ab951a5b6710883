// SPDX-License-Identifier: Apache-2.0
// Evaluates batches: threads, the slots of sequences, the arena for temporaries, and results.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/memory/Mapping.h"
#include "runtime/session/Batch.h"

#include <memory>
#include <vector>

namespace talc {

class Session {
public:
  // `model` must outlive the session. No more threads are started than threadLimit().
  static Status create(const Model &model, int32_t threads, int32_t slots, std::unique_ptr<Session> &session);

  // All three are all or nothing: on failure no slot has changed.
  Status evaluate(const talc_sequence *sequences, int32_t count);
  Status encode(const talc_sequence *sources, int32_t count);
  Status reorder(const int32_t *list, const int32_t *parents, int32_t count);
  // [rows][width] of a sequence of the last evaluation; null with 0 rows when it wanted none.
  const float *result(int32_t output, int32_t sequence, int32_t &rows) const;

  int32_t slots() const { return held.count(); }
  int32_t threads() const { return pool->size(); }
  int32_t length(int32_t slot) const { return held.length(slot); }
  void reset(int32_t slot) { held.reset(slot); }
  talc_session_memory memory() const;
  const Model &usedModel() const { return model; }

  // For tools: `mark` is called on every thread with a kernel's number after each kernel, and with one of the negative
  // numbers below. Null: measures nothing.
  using Mark = void (*)(void *state, int64_t thread, int64_t kernel);
  static constexpr int64_t stepBegins = -1, barrierPassed = -2, stepEnds = -3;
  void measure(Mark mark, void *state);

private:
  explicit Session(const Model &model) : model(model) {}
  Status prepare(const talc_sequence *sequences, int32_t count, Batch::Purpose purpose);
  Status reserveStep();
  void run(artifact::StepFunction function);
  artifact::StepFunction chooseFunction() const;
  Status wrongKind(const char *function, const char *expected) const;

  const Model &model;
  std::unique_ptr<ThreadPool> pool;
  Slots held;
  Batch batch;
  bool evaluated = false;  // the batch's results are there
  Mark mark = nullptr;
  void *markState = nullptr;
  Mapping arena;
  Mapping outputs[artifact::maxOutputs];
};

}  // namespace talc
