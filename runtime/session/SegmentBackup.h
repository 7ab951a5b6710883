// SPDX-License-Identifier: Apache-2.0
// The slots of a step of a model with segments or states, copied before the step and put back if it does not end.
//
// Such a step changes compressive memories and states from its first token on, and overwrites segments that it closes.
// All else is written behind the tokens of their sequences, where nothing is lost.
#pragma once

#include "runtime/session/Batch.h"

#include <vector>

namespace talc {

// Keeps its memory from step to step.
class SegmentBackup {
public:
  // Copies the slots of a batch.
  Status save(const Model &model, const Workspace &workspace, const Slots &slots, const Batch &batch);
  // Puts back what was copied of this batch, whose slots have kept their lengths. Allocates nothing.
  Status restore(const Model &model, Workspace &workspace, const Slots &slots, const Batch &batch) const;

private:
  std::vector<unsigned char> bytes;
};

}  // namespace talc
