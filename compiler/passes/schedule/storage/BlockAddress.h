// SPDX-License-Identifier: Apache-2.0
// The address of a value that is stored in quant blocks.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// The block has `lanes` lanes; its bytes begin at `begin` in the last dimension of `bytes`, with the indices `outer` in
// the dimensions before.
struct BlockAddress {
  // The indices of the first byte of a word of a field.
  Emitter::Values wordIndices(Emitter &e, const BlockField &field, mlir::Value word) const {
    mlir::Value inField = e.mul(e.add(e.mul(word, lanes), lane), field.wordBytes);
    Emitter::Values at = outer;
    at.push_back(e.add(begin, e.add(inField, field.offset * lanes)));
    return at;
  }

  // The indices of a byte of a field.
  Emitter::Values byteIndices(Emitter &e, const BlockField &field, mlir::Value byte) const {
    Emitter::Values at = wordIndices(e, field, e.div(byte, field.wordBytes));
    if (field.wordBytes > 1)
      at.back() = e.add(at.back(), e.rem(byte, field.wordBytes));
    return at;
  }

  // The alignment of the words of a field. Buffers have a greater one.
  int64_t alignment(const BlockField &field, const StorageFormat &format) const {
    const int64_t offsets = field.wordBytes | (field.offset * lanes) | (format.blockBytes * lanes);
    return offsets & -offsets;
  }

  mlir::Value bytes;
  Emitter::Values outer;
  mlir::Value begin;
  int64_t lanes;
  mlir::Value lane;   // of the first value
  mlir::Value value;  // its index in the block
};

}  // namespace talc
