// SPDX-License-Identifier: Apache-2.0
// Addresses of keys and values in a KV cache that is laid out in panels (#kernel.kv_panels).
//
// Panels are stored in their order, or in a ring after those of the sink tokens:
//
//   1 panel of sink tokens, ring of 3      panel     0   1   2   3   4   5   6
//                                          stored  0 1   2   3   1   2   3   1      panel 0 is stored twice: one copy
//                                          is never overwritten
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"

namespace talc {

// The index at which a panel is stored; for a panel of sink tokens the one in the ring.
mlir::Value panelIndex(Emitter &e, const kernel::KvLayout &layout, mlir::Value panel);

// Runs body(index) for all indices at which a panel is stored.
void forEachPanelIndex(Emitter &e, const kernel::KvLayout &layout, mlir::Value panel,
                       llvm::function_ref<void(mlir::Value)> body);

// Addresses in panels of quant blocks. The bytes are those of panels of packed weights: blocks run along the features
// of a key or value, and the blocks of the keys of a panel are interleaved word by word.
class KvBlocks {
public:
  using Value = mlir::Value;

  explicit KvBlocks(const kernel::KvLayout &layout)
      : keys(*getStorageFormat(layout.keys)), values(*getStorageFormat(layout.values)), layout(layout) {}

  // Bytes of a head in a panel.
  int64_t keyBytes() const { return keys.byteSize(layout.width) * layout.tokens; }
  int64_t valueBytes() const { return values.byteSize(layout.paddedWidth) * layout.tokens; }

  // The address of a feature of a token; the head begins at `begin` of the panel.
  BlockAddress keyAddress(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value feature,
                          Value token) const;
  BlockAddress valueAddress(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value token,
                            Value feature) const;

  const StorageFormat &keys, &values;

private:
  const kernel::KvLayout layout;
};

}  // namespace talc
