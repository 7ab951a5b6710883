// SPDX-License-Identifier: Apache-2.0
// What the tiles of a single token's attention prefetch: panels of the KV cache that the task, or the next one, reads
// later.
#pragma once

#include "compiler/passes/schedule/cpu/attention/AttentionStrategies.h"

namespace talc {

// Panels in the order in which they are read: the keys of a block, its values, the next block or the next head.
class KvPrefetch {
public:
  using Value = mlir::Value;

  // Whether the plan says so. Quantized caches, which have few bytes for their work, are not prefetched, nor are keys
  // and values of different types, nor caches with sink tokens.
  static bool appliesTo(const AttentionLoops &loops);

  KvPrefetch(AttentionLoops &loops, Value head);
  // Panels [begin, end) of the block are visible.
  void enterBlock(Value firstKey, Value begin, Value end);

  // For a tile of so many panels side by side.
  AttentionTiles::Prefetch besideScores(int64_t panels);
  // For a tile of columns [column, + count).
  AttentionTiles::Prefetch besideValues(Value column, int64_t count);

private:
  struct Address {
    Value memory, element;
  };

  Address choose(Value condition, const Address &yes, const Address &no);
  Address keyPanelAddress(Value head, Value panel) {
    return panelAddress(*loops.keys.panels.keys, all.keys, head, panel);
  }
  Address valuePanelAddress(Value panel) { return panelAddress(*loops.keys.panels.values, all.values, head, panel); }
  Address panelAddress(const KvAccess &part, Value memory, Value head, Value panel);
  Address panelAfterKeys(Value panel);
  Address panelAfterValues(Value panel);
  void prefetch(const Address &address, Value first, int64_t elements);
  // Panels between the one that a tile reads and the one that it prefetches.
  int64_t distance() const { return loops.tiles.widestTile(loops.group); }

  AttentionLoops &loops;
  Emitter &e;
  const kernel::KvLayout &layout;
  const Value head;
  KvBlock all;
  Value firstPanel, begin, end;  // of the block; counted from its first
  Value first, last;             // of all panels that the token sees
};

}  // namespace talc
