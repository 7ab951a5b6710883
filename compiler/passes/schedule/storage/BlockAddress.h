// SPDX-License-Identifier: Apache-2.0
// Where a value of a storage format of blocks lies in memory.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// In a block of `lanes` lanes whose bytes begin at `begin` of the last dimension of `bytes`, behind `outer` in those
// before it.
struct BlockAddress {
  // Where a word of a field begins.
  Emitter::Values wordIndices(Emitter &e, const BlockField &field, mlir::Value word) const {
    mlir::Value inField = e.mul(e.add(e.mul(word, lanes), lane), field.wordBytes);
    Emitter::Values at = outer;
    at.push_back(e.add(begin, e.add(inField, field.offset * lanes)));
    return at;
  }

  // Where one of a field's bytes lies.
  Emitter::Values byteIndices(Emitter &e, const BlockField &field, mlir::Value byte) const {
    Emitter::Values at = wordIndices(e, field, e.div(byte, field.wordBytes));
    if (field.wordBytes > 1)
      at.back() = e.add(at.back(), e.rem(byte, field.wordBytes));
    return at;
  }

  // What the addresses of a field's words are multiples of: buffers begin at multiples of far more.
  int64_t alignment(const BlockField &field, const StorageFormat &format) const {
    const int64_t places = field.wordBytes | (field.offset * lanes) | (format.blockBytes * lanes);
    return places & -places;
  }

  mlir::Value bytes;
  Emitter::Values outer;
  mlir::Value begin;
  int64_t lanes;
  mlir::Value lane;   // of the first value
  mlir::Value value;  // its number in the block
};

}  // namespace talc
