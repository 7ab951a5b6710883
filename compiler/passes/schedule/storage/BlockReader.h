// SPDX-License-Identifier: Apache-2.0
// The bytes of blocks as values of vectors.
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"

namespace talc {

// Of a value of a weight or of rounded activations: panels [panels, depth, lanes], or rows [rows, depth].
BlockAddress blockAddress(Emitter &e, mlir::Value buffer, mlir::ValueRange at);

// A vector of values in one block, or a vector of one value.
//
// In panels [panels, depth, lanes] a vector is one place of the blocks of neighbouring lanes, whose words lie side by
// side. In rows [rows, depth] it is neighbouring places of one block, so that what the block has once is broadcast.
// Places of a vector begin at a multiple of its lanes and never cross a group of 16 values.
class BlockReader {
public:
  using Value = mlir::Value;

  // `lanes`: of the vector.
  BlockReader(Emitter &e, const StorageFormat &format, const BlockAddress &place, int64_t lanes);
  BlockReader(Emitter &e, Value buffer, mlir::ValueRange at, int64_t lanes);

  Emitter &e;
  const int64_t lanes;
  const Value place;  // of the first value in its block

  // Bytes of a field. `each`: in rows, values have bytes of their own, from this one on.
  Value signedBytes(int64_t field, Value byte, bool each);
  Value unsignedBytes(int64_t field, Value byte, bool each);
  // Of panels, a word of four bytes of each lane.
  Value words(int64_t field, Value word);
  // A number that the block has once, as f32.
  Value number(int64_t field, mlir::FloatType type);
  Value half(int64_t field) { return number(field, e.b.getF16Type()); }
  // Of rows, an i32 that the block has once; a vector of neighbours.
  Value scalar(int64_t field, Value word);
  Value scalars(int64_t field, Value word, int64_t count);

  // The four bits of every value, in groups of 16 whose first half is in the low halves of eight bytes.
  Value groupedNibbles(int64_t field);
  // The bit of every value in a field of 32.
  Value ownBits(int64_t field);
  // Of blocks of 256: d * s and dm * m of a group of 32; fields 0 to 2 are d, dm and the bytes of s and m.
  std::pair<Value, Value> groupScales(Value group);

  // Vectors of integers. (integers >> shift) & most
  Value bits(Value integer, Value shift, int64_t most);
  Value mask(Value integer, Value most);
  Value mask(Value integer, int64_t most) { return mask(integer, e.index(most)); }
  // low | high << shift
  Value join(Value low, Value high, int64_t shift);
  Value minus(Value integer, Value by);
  Value plus(Value integer, Value by);
  Value most(Value x, Value y);
  Value left(Value integer, int64_t by);
  Value right(Value integer, int64_t by);
  Value right(Value integer, Value by);
  Value less(Value integer, int64_t by);
  Value constant(int64_t value);
  // An f32 for all values.
  Value factor(double value);
  // The same bits as another type.
  Value as(Value vector, mlir::Type element);
  // The bits of halves, in the lower half of integers, as f32.
  Value fromHalves(Value integer);
  Value toFloat(Value integer);
  // The numbers of these codes; of e4m3 as bytes with a sign, which are halves but for a factor.
  static constexpr double e4m3Bias = 0x1p8;
  Value halfOfE4M3(Value code);
  Value fromE4M3(Value code);
  Value fromE8M0(Value code);

private:
  mlir::VectorType integers();
  Emitter::Values address(int64_t field, Value byte);
  Value load(int64_t field, Value byte, bool each);
  Value loadBytes(int64_t count, mlir::ValueRange at);
  Value loadWords(int64_t field, int64_t bytes, mlir::ValueRange at);
  Value spread(Value vector);
  Value splat(Value number);

  const StorageFormat &format;
  const bool inPanels;
  const BlockAddress block;
};

}  // namespace talc
