// SPDX-License-Identifier: Apache-2.0
// Keys and values of a state, each in panels of its own storage format.
#pragma once

#include "compiler/passes/schedule/cpu/attention/KvAccess.h"

namespace talc {

// Some neighbouring keys of a head as the tiles read them: keys [panel, k, key], values [panel, key, feature], panels
// of layout.tokens keys; of formats of blocks the bytes of each panel.
struct KvBlock {
  mlir::Value keys, values;
};

class KvStorage {
public:
  using Value = mlir::Value;

  KvStorage(Emitter &e, const kernel::KvLayout &layout)
      : keys(KvAccess::ofKeys(e, layout)), values(KvAccess::ofValues(e, layout)), e(e), layout(layout) {}

  // All keys and values of a slot.
  KvBlock memoryOf(Value step, Value state, Value slot);
  // `panels` panels of `memory`, which has those of `heads` heads side by side, from one on, of one head.
  KvBlock panelsOf(const KvBlock &memory, Value head, Value firstPanel, int64_t heads, int64_t panels);
  // Memory of this thread for so many panels of one head.
  KvBlock copies(int64_t panels);
  KvBlock choose(Value condition, const KvBlock &yes, const KvBlock &no);
  // A token of the memory into the panel `to` of copies.
  void copyToken(const KvBlock &memory, const TokenAddress &from, const KvBlock &copies, Value to);

  const std::unique_ptr<KvAccess> keys, values;

private:
  Emitter &e;
  const kernel::KvLayout layout;
};

}  // namespace talc
