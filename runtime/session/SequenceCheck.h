// SPDX-License-Identifier: Apache-2.0
// Checks one sequence of a batch for everything that generated code relies on.
#pragma once

#include "runtime/session/Batch.h"

namespace talc {

class SequenceCheck {
public:
  // `index`: the position in the batch, for messages.
  SequenceCheck(const Model &model, const Slots &slots, Batch::Purpose purpose, const talc_sequence &sequence,
                int32_t index)
      : model(model), slots(slots), encodes(purpose == Batch::Purpose::Encode), sequence(sequence), index(index) {}

  // Whether there is such a slot; must hold before the rest is checked.
  Status slot() const;
  Status everything() const;

private:
  Status state() const;
  Status tokens() const;
  Status types() const;
  Status prefix() const;
  Status wanted(int32_t result) const;
  Status listed(int32_t result) const;
  Status classes(int32_t result, int32_t rows) const;
  const char *file() const { return model.name().c_str(); }
  const char *noun() const { return encodes ? "source" : "sequence"; }

  const Model &model;
  const Slots &slots;
  const bool encodes;
  const talc_sequence &sequence;
  const int32_t index;
};

}  // namespace talc
