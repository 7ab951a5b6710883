// SPDX-License-Identifier: Apache-2.0
// Loads fields of quant blocks as vectors.
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"

namespace talc {

// The address of a value of a weight or of quantized activations: panels [panels, depth, lanes], or rows [rows, depth].
BlockAddress blockAddress(Emitter &e, mlir::Value buffer, mlir::ValueRange at);

// Reads a vector of values in blocks.
//
// In panels [panels, depth, lanes] a vector has one value of the blocks of each of several lanes, whose words are
// adjacent. In rows [rows, depth] it has neighboring values of one block; values that the block has once are broadcast.
// A vector begins at a multiple of its lanes and does not cross a group of 16 values.
class BlockReader {
public:
  using Value = mlir::Value;

  // `lanes` is that of the vector.
  BlockReader(Emitter &e, const StorageFormat &format, const BlockAddress &place, int64_t lanes);
  BlockReader(Emitter &e, Value buffer, mlir::ValueRange at, int64_t lanes);

  Emitter &e;
  const int64_t lanes;
  const Value place;  // the index of the first value in its block

  // Bytes of a field. With `each`, values in rows have one byte each, from this one on.
  Value signedBytes(int64_t field, Value byte, bool each);
  Value unsignedBytes(int64_t field, Value byte, bool each);
  // In panels: a word of four bytes of each lane.
  Value words(int64_t field, Value word);
  // A float that the block has once, as f32.
  Value number(int64_t field, mlir::FloatType type);
  Value half(int64_t field) { return number(field, e.b.getF16Type()); }
  // In rows: an i32 that the block has once; a vector of neighboring ones.
  Value scalar(int64_t field, Value word);
  Value scalars(int64_t field, Value word, int64_t count);

  // The four bits of every value; groups of 16 values have their first half in the low halves of eight bytes.
  Value groupedNibbles(int64_t field);
  // The bit of every value in a field of 32 bits.
  Value bitOfEach(int64_t field);
  // In k-quants: d * s and dm * m of a group of 32; fields 0 to 2 are d, dm and the bytes of s and m.
  std::pair<Value, Value> groupScales(Value group);

  // Operations on vectors of integers. (integer >> shift) & bitMask
  Value bits(Value integer, Value shift, int64_t bitMask);
  Value mask(Value integer, Value bitMask);
  Value mask(Value integer, int64_t bitMask) { return mask(integer, e.index(bitMask)); }
  // low | high << shift
  Value join(Value low, Value high, int64_t shift);
  Value minus(Value integer, Value by);
  Value plus(Value integer, Value by);
  Value maxUnsigned(Value x, Value y);
  Value shiftLeft(Value integer, int64_t by);
  Value shiftRight(Value integer, int64_t by);
  Value shiftRight(Value integer, Value by);
  Value less(Value integer, int64_t by);
  Value constant(int64_t value);
  // An f32 constant for all values.
  Value factor(double value);
  // The same bits as another type.
  Value as(Value vector, mlir::Type element);
  // The f16 in the low halves of integers, as f32.
  Value fromHalves(Value integer);
  Value toFloat(Value integer);
  // Conversions of codes to f32. Codes of e4m3 are sign-extended bytes; as f16 they are smaller by the factor e4m3Bias.
  static constexpr double e4m3Bias = 0x1p8;
  Value halfOfE4M3(Value code);
  Value fromE4M3(Value code);
  Value fromE8M0(Value code);
  // The entries of a table of 16 bytes with a sign, by codes of four bits.
  Value lookUp(Value code, llvm::ArrayRef<int8_t> table);

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
