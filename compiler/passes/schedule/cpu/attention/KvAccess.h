// SPDX-License-Identifier: Apache-2.0
// What lies in the panels of a state's keys, or of its values: how numbers of its storage format are loaded, stored and
// copied.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include <memory>

namespace talc {

// Where a token lies in the panels of all heads.
struct TokenAddress {
  mlir::Value panel, head, lane;
};

// `memory` is what kernel.keys or kernel.values yields, `part` some neighbouring panels of one head, in it or copied.
class KvAccess {
public:
  using Value = mlir::Value;

  static std::unique_ptr<KvAccess> ofKeys(Emitter &e, const kernel::KvLayout &layout);
  static std::unique_ptr<KvAccess> ofValues(Emitter &e, const kernel::KvLayout &layout);
  virtual ~KvAccess() = default;

  // `panels` panels of one head, the first of which is number `first` of those of `heads` heads side by side.
  Value view(Value memory, Value first, int64_t heads, int64_t panels);
  // All elements of `memory` in one row, and those of a head's part of a panel.
  Value flat(Value memory);
  int64_t panelElements() const;
  // Memory of this thread for so many panels of one head.
  Value copies(int64_t panels);
  Value choose(Value condition, Value yes, Value no);

  // A vector: of keys a feature of neighbouring tokens, of values neighbouring features of a token.
  virtual Value load(Value part, Value panel, Value lane, Value feature) = 0;
  // A token's, row `row` of `rows` from `column` on, into the memory.
  virtual void store(Value memory, const TokenAddress &to, Value rows, Value row, Value column) = 0;
  // Whether a vector can be stored by itself, and whether some lanes of one can.
  virtual bool storesVectors() const = 0;
  virtual bool storesLanes() const = 0;
  // A token of the memory into the panel `to` of copies.
  virtual void copyToken(Value memory, const TokenAddress &from, Value copies, Value to) = 0;

protected:
  KvAccess(Emitter &e, const kernel::KvLayout &layout) : e(e), layout(layout) {}
  // A panel of one head in views and copies, and what a view is one of.
  virtual llvm::SmallVector<int64_t> shape() const = 0;
  virtual mlir::Type element() const = 0;
  virtual Value viewed(Value memory) = 0;

  Emitter &e;
  const kernel::KvLayout layout;
};

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
