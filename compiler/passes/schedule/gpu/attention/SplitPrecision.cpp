// SPDX-License-Identifier: Apache-2.0
// Splits numbers, and puts them in the order of fragments.
#include "compiler/passes/schedule/gpu/attention/SplitPrecision.h"

using namespace mlir;

namespace talc {

std::pair<Value, Value> powersOf(WorkgroupEmitter &e, Value largest) {
  Type i32 = e.b.getI32Type(), f32 = e.b.getF32Type();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(e.b, e.loc, value, 32); };
  Value exponent = arith::ShRUIOp::create(e.b, e.loc, arith::BitcastOp::create(e.b, e.loc, i32, largest), number(23));
  exponent = arith::MaxSIOp::create(e.b, e.loc, exponent, number(factorBits));
  auto power = [&](Value biased) -> Value {
    return arith::BitcastOp::create(e.b, e.loc, f32, arith::ShLIOp::create(e.b, e.loc, biased, number(23)));
  };
  Value up = arith::SubIOp::create(e.b, e.loc, number(2 * 127 + factorBits - 1), exponent);
  return {power(up), power(arith::SubIOp::create(e.b, e.loc, exponent, number(factorBits - 1)))};
}

// x = high + low.
static std::pair<Value, Value> halvesOf(WorkgroupEmitter &e, Value number, Type type) {
  Value high = arith::TruncFOp::create(e.b, e.loc, type, number);
  Value rest = e.subf(number, arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), high));
  return {high, arith::TruncFOp::create(e.b, e.loc, type, rest)};
}

std::pair<Emitter::Values, Emitter::Values> factorsOf(WorkgroupEmitter &e, ArrayRef<Value> upper, ArrayRef<Value> lower,
                                                      Type type) {
  std::pair<Emitter::Values, Emitter::Values> all;
  for (int64_t i = 0; i < 8; ++i) {
    auto [high, low] = halvesOf(e, (i / 2 % 2 == 0 ? upper : lower)[i / 4 * 2 + i % 2], type);
    all.first.push_back(high);
    all.second.push_back(low);
  }
  return all;
}

Value together(WorkgroupEmitter &e, ArrayRef<Value> numbers) {
  auto type = VectorType::get({static_cast<int64_t>(numbers.size())}, numbers.front().getType());
  return vector::FromElementsOp::create(e.b, e.loc, type, numbers);
}

Value fragmentOf(WorkgroupEmitter &e, Value pairs) {
  auto all = cast<VectorType>(pairs.getType());
  int64_t count = all.getDimSize(0) / 2;
  auto type = VectorType::get({count, 2}, all.getElementType());
  Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
  for (int64_t i = 0; i < count; ++i) {
    Value pair = vector::ShuffleOp::create(e.b, e.loc, pairs, pairs, ArrayRef<int64_t>{2 * i, 2 * i + 1});
    fragment = vector::InsertOp::create(e.b, e.loc, pair, fragment, i);
  }
  return fragment;
}

Value fragmentOf(WorkgroupEmitter &e, ArrayRef<Value> lines, int64_t place) {
  Emitter::Values numbers;
  for (Value line : lines)
    numbers.push_back(vector::ExtractOp::create(e.b, e.loc, line, place));
  return fragmentOf(e, together(e, numbers));
}

}  // namespace talc
