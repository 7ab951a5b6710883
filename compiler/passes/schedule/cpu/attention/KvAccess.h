// SPDX-License-Identifier: Apache-2.0
// Access to a KV cache: how keys and values of its storage format are loaded, stored and copied.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include <memory>

namespace talc {

// The address of a token's part of a head, in the panels of all heads.
struct TokenAddress {
  mlir::Value panel, head, lane;
};

// The keys of a cache, or its values. `memory` is what kernel.keys or kernel.values yields; `part` is a run of panels
// of one head, in it or copied.
class KvAccess {
public:
  using Value = mlir::Value;

  static std::unique_ptr<KvAccess> forKeys(Emitter &e, const kernel::KvLayout &layout);
  static std::unique_ptr<KvAccess> forValues(Emitter &e, const kernel::KvLayout &layout);
  virtual ~KvAccess() = default;

  // A view of `panels` panels of one head; `first` counts the panels of `heads` heads side by side.
  Value view(Value memory, Value first, int64_t heads, int64_t panels);
  // All elements of `memory` as one dimension; the number of elements in a head's part of a panel.
  Value flat(Value memory);
  int64_t panelElements() const;
  // Memory of this thread for copies of so many panels of one head.
  Value copies(int64_t panels);
  Value choose(Value condition, Value yes, Value no);

  // A vector: of keys a feature of neighboring tokens, of values neighboring features of a token.
  virtual Value load(Value part, Value panel, Value lane, Value feature) = 0;
  // Stores a token's features, row `row` of `rows` from `column` on, in the memory.
  virtual void store(Value memory, const TokenAddress &to, Value rows, Value row, Value column) = 0;
  // Whether single vectors can be stored, and whether some lanes of one can.
  virtual bool storesVectors() const = 0;
  virtual bool storesLanes() const = 0;
  // Copies a token of the memory to the panel `to` of copies.
  virtual void copyToken(Value memory, const TokenAddress &from, Value copies, Value to) = 0;

protected:
  KvAccess(Emitter &e, const kernel::KvLayout &layout) : e(e), layout(layout) {}
  // The shape of a panel of one head in views and copies, its element type, and the memory that a view is one of.
  virtual llvm::SmallVector<int64_t> shape() const = 0;
  virtual mlir::Type element() const = 0;
  virtual Value viewed(Value memory) = 0;

  Emitter &e;
  const kernel::KvLayout layout;
};

// A run of keys of a head as tiles read them: keys [panel, k, key], values [panel, key, feature], in panels of
// layout.tokens keys; of quantized caches the bytes of each panel.
struct KvBlock {
  mlir::Value keys, values;
};

// The keys and the values of a cache, each in panels of its own storage format.
class KvStorage {
public:
  using Value = mlir::Value;

  KvStorage(Emitter &e, const kernel::KvLayout &layout)
      : keys(KvAccess::forKeys(e, layout)), values(KvAccess::forValues(e, layout)), e(e), layout(layout) {}

  // All keys and values of a slot.
  KvBlock slotMemory(Value step, Value state, Value slot);
  // `panels` panels of one head, beginning with `firstPanel`; `memory` has those of `heads` heads side by side.
  KvBlock viewPanels(const KvBlock &memory, Value head, Value firstPanel, int64_t heads, int64_t panels);
  // Memory of this thread for copies of so many panels of one head.
  KvBlock copies(int64_t panels);
  KvBlock choose(Value condition, const KvBlock &yes, const KvBlock &no);
  // Copies a token of the memory to the panel `to` of copies.
  void copyToken(const KvBlock &memory, const TokenAddress &from, const KvBlock &copies, Value to);

  const std::unique_ptr<KvAccess> keys, values;

private:
  Emitter &e;
  const kernel::KvLayout layout;
};

}  // namespace talc
