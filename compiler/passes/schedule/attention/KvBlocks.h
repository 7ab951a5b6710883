// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a state's keys and values lie, each of a format of blocks.
//
// The bytes are those of panels of weights: along k, and along the features of a value, blocks of so many numbers; of
// keys those of a panel's tokens side by side, word by word.
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"

namespace talc {

class KvBlocks {
public:
  using Value = mlir::Value;

  explicit KvBlocks(const kernel::KvLayout &layout)
      : keys(*getStorageFormat(layout.keys)), values(*getStorageFormat(layout.values)), layout(layout) {}

  // Bytes of a head's part of a panel.
  int64_t keyBytes() const { return keys.byteSize(layout.width) * layout.tokens; }
  int64_t valueBytes() const { return values.byteSize(layout.paddedWidth) * layout.tokens; }

  // A feature of a token, whose head's part of a panel begins at `begin`.
  BlockAddress keyPlace(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value feature, Value token) const;
  BlockAddress valuePlace(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value token,
                          Value feature) const;

  const StorageFormat &keys, &values;

private:
  const kernel::KvLayout layout;
};

}  // namespace talc
