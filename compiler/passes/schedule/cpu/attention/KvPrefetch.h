// SPDX-License-Identifier: Apache-2.0
// What the tiles of a single row's attention fetch while they work: panels that the task, or the next one, reads later.
#pragma once

#include "compiler/passes/schedule/cpu/attention/AttentionStrategies.h"

namespace talc {

// In the order in which they are read: a block's keys, its values, the next block or the next head.
class KvPrefetch {
public:
  using Value = mlir::Value;

  // Whether the plan says so. Blocks, which have few bytes for their work, are not fetched, nor keys and values of
  // different elements, nor what is kept beside a window.
  static bool suits(const AttentionLoops &loops);

  KvPrefetch(AttentionLoops &loops, Value head);
  // Panels [begin, end) of the block, of which some are seen.
  void enterBlock(Value firstKey, Value begin, Value end);

  // For a tile of so many panels side by side.
  AttentionTiles::Fetch besideKeys(int64_t panels);
  // For a tile of columns [column, + count).
  AttentionTiles::Fetch besideValues(Value column, int64_t count);

private:
  struct Place {
    Value memory, element;
  };

  Place choose(Value condition, const Place &yes, const Place &no);
  Place keysAt(Value head, Value panel) { return placeOf(*loops.keys.panels.keys, all.keys, head, panel); }
  Place valuesAt(Value panel) { return placeOf(*loops.keys.panels.values, all.values, head, panel); }
  Place placeOf(const KvAccess &part, Value memory, Value head, Value panel);
  Place behindKeys(Value panel);
  Place behindValues(Value panel);
  void fetch(const Place &place, Value first, int64_t elements);
  // Panels between what a tile reads and what it fetches.
  int64_t distance() const { return loops.tiles.widestTile(loops.group); }

  AttentionLoops &loops;
  Emitter &e;
  const kernel::KvLayout &layout;
  const Value head;
  KvBlock all;
  Value firstPanel, begin, end;  // of the block; counted from its first
  Value first, last;             // of all panels that the row sees
};

}  // namespace talc
