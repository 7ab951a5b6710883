// SPDX-License-Identifier: Apache-2.0
// Splits values, and arranges them as fragments.
#include "compiler/passes/schedule/gpu/attention/SplitPrecision.h"

using namespace mlir;

namespace talc {

std::pair<Value, Value> scalesForSplit(WorkgroupEmitter &e, Value largest) {
  Type i32 = e.b.getI32Type(), f32 = e.b.getF32Type();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(e.b, e.loc, value, 32); };
  Value exponent = arith::ShRUIOp::create(e.b, e.loc, arith::BitcastOp::create(e.b, e.loc, i32, largest), constant(23));
  exponent = arith::MaxSIOp::create(e.b, e.loc, exponent, constant(scaleBits));
  auto power = [&](Value biased) -> Value {
    return arith::BitcastOp::create(e.b, e.loc, f32, arith::ShLIOp::create(e.b, e.loc, biased, constant(23)));
  };
  Value up = arith::SubIOp::create(e.b, e.loc, constant(2 * 127 + scaleBits - 1), exponent);
  return {power(up), power(arith::SubIOp::create(e.b, e.loc, exponent, constant(scaleBits - 1)))};
}

// x = high + low.
static std::pair<Value, Value> splitValue(WorkgroupEmitter &e, Value value, Type type) {
  Value high = arith::TruncFOp::create(e.b, e.loc, type, value);
  Value rest = e.subf(value, arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), high));
  return {high, arith::TruncFOp::create(e.b, e.loc, type, rest)};
}

std::pair<Emitter::Values, Emitter::Values> splitFragmentA(WorkgroupEmitter &e, ArrayRef<Value> upperRow,
                                                           ArrayRef<Value> lowerRow, Type type) {
  std::pair<Emitter::Values, Emitter::Values> parts;
  for (int64_t i = 0; i < 8; ++i) {
    auto [high, low] = splitValue(e, (i / 2 % 2 == 0 ? upperRow : lowerRow)[i / 4 * 2 + i % 2], type);
    parts.first.push_back(high);
    parts.second.push_back(low);
  }
  return parts;
}

Value packVector(WorkgroupEmitter &e, ArrayRef<Value> values) {
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, values.front().getType());
  return vector::FromElementsOp::create(e.b, e.loc, type, values);
}

Value makeFragment(WorkgroupEmitter &e, Value pairs) {
  auto pairsType = cast<VectorType>(pairs.getType());
  int64_t count = pairsType.getDimSize(0) / 2;
  auto type = VectorType::get({count, 2}, pairsType.getElementType());
  Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
  for (int64_t i = 0; i < count; ++i) {
    Value pair = vector::ShuffleOp::create(e.b, e.loc, pairs, pairs, ArrayRef<int64_t>{2 * i, 2 * i + 1});
    fragment = vector::InsertOp::create(e.b, e.loc, pair, fragment, i);
  }
  return fragment;
}

Value makeFragment(WorkgroupEmitter &e, ArrayRef<Value> vectors, int64_t index) {
  Emitter::Values values;
  for (Value vector : vectors)
    values.push_back(vector::ExtractOp::create(e.b, e.loc, vector, index));
  return makeFragment(e, packVector(e, values));
}

}  // namespace talc
