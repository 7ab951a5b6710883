// SPDX-License-Identifier: Apache-2.0
// Keys and values of a state, each in panels of its own storage format.
#pragma once

#include "compiler/passes/schedule/cpu/StatePart.h"

namespace talc {

// Some neighbouring keys of a head as the tiles read them: keys [panel, k, key], values [panel, key, feature], panels
// of layout.tokens keys; of formats of blocks the bytes of each panel.
struct KeyBlock {
  mlir::Value keys, values;
};

class StateStorage {
public:
  using Value = mlir::Value;

  StateStorage(Emitter &e, const kernel::StateLayout &layout)
      : keys(StatePart::ofKeys(e, layout)), values(StatePart::ofValues(e, layout)), e(e), layout(layout) {}

  // All keys and values of a slot.
  KeyBlock memoryOf(Value step, Value state, Value slot);
  // `panels` panels of `memory`, which has those of `heads` heads side by side, from one on, of one head.
  KeyBlock panelsOf(const KeyBlock &memory, Value head, Value firstPanel, int64_t heads, int64_t panels);
  // Memory of this thread for so many panels of one head.
  KeyBlock copies(int64_t panels);
  KeyBlock choose(Value condition, const KeyBlock &yes, const KeyBlock &no);
  // A token of the memory into the panel `to` of copies.
  void copyToken(const KeyBlock &memory, const TokenPlace &from, const KeyBlock &copies, Value to);

  const std::unique_ptr<StatePart> keys, values;

private:
  Emitter &e;
  const kernel::StateLayout layout;
};

}  // namespace talc
