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
  // `model` must outlive the session.
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
  Mapping state, arena, output;
};

}  // namespace talc
