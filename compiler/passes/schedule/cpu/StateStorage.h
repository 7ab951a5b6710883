// SPDX-License-Identifier: Apache-2.0
// What lies in the panels of a state: how keys and values of its storage format are loaded, stored and copied.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include <memory>

namespace talc {

// Some neighbouring keys of a head as the tiles read them: keys [panel, k, key], values [panel, key, feature], panels
// of layout.tokens keys; of formats of blocks the bytes of each panel.
struct KeyBlock {
  mlir::Value keys, values;
};

// Where a token lies in the panels of all heads.
struct TokenPlace {
  mlir::Value panel, head, lane;
};

class StateStorage {
public:
  using Value = mlir::Value;

  static std::unique_ptr<StateStorage> create(Emitter &e, const kernel::StateLayout &layout);
  virtual ~StateStorage() = default;

  // All keys and values of a slot.
  KeyBlock memoryOf(Value step, Value state, Value slot);
  // `panels` panels of `memory`, which has those of `heads` heads side by side, from one on, of one head.
  KeyBlock panelsOf(const KeyBlock &memory, Value head, Value firstPanel, int64_t heads, int64_t panels);
  // Memory of this thread for so many panels of one head.
  KeyBlock copies(int64_t panels);
  KeyBlock choose(Value condition, const KeyBlock &yes, const KeyBlock &no);

  // A vector of the keys of neighbouring tokens, of the features of a token's value.
  virtual Value loadKeys(const KeyBlock &block, Value panel, Value feature, Value lane) = 0;
  virtual Value loadValues(const KeyBlock &block, Value panel, Value lane, Value column) = 0;
  // A token's key or value, row `row` of `rows` from `column` on, into the memory.
  virtual void storeKey(const KeyBlock &memory, const TokenPlace &to, Value rows, Value row, Value column) = 0;
  virtual void storeValue(const KeyBlock &memory, const TokenPlace &to, Value rows, Value row, Value column) = 0;
  // Whether a feature of neighbouring keys can be stored as a vector.
  virtual bool storesVectors() const = 0;
  // A token of the memory into the panel `to` of copies.
  virtual void copyToken(const KeyBlock &memory, const TokenPlace &from, const KeyBlock &copies, Value to) = 0;

protected:
  StateStorage(Emitter &e, const kernel::StateLayout &layout) : e(e), layout(layout) {}
  // A panel of one head in views and copies, and what a view is one of.
  virtual llvm::SmallVector<int64_t> keyShape() const = 0;
  virtual llvm::SmallVector<int64_t> valueShape() const = 0;
  virtual mlir::Type element() const = 0;
  virtual Value viewed(Value part) = 0;

  Emitter &e;
  const kernel::StateLayout layout;

private:
  Value viewOf(Value part, Value first, int64_t stride, int64_t panels, llvm::ArrayRef<int64_t> panel);
};

}  // namespace talc
