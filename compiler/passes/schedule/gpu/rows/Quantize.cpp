// SPDX-License-Identifier: Apache-2.0
// kernel.quantize by a workgroup: a thread has blocks of a row, or numbers.
//
// GPUs multiply levels times scales, as they do with weights in blocks. The sums of levels are for processors'
// products of integers: here nobody reads them, and nobody writes them.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/storage/BlockReader.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

const StorageFormat &getStorageFormat(kernel::QuantizeOp op) {
  return elementFormat(cast<MemRefType>(op.getInit().getType()));
}

// Values of a row that are rounded together.
class QuantBlockGroup {
public:
  QuantBlockGroup(WorkgroupEmitter &e, kernel::QuantizeOp op, Value row, Value number)
      : e(e), op(op), format(getStorageFormat(op)), row(row), first(e.mul(number, format.jointValues())) {}

  void store() {
    Value most = greatest();
    // Neither the scale nor its inverse is infinite.
    Value isZero = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OLT, most, e.splat(0x1p-120));
    Value inverse = e.select(isZero, e.splat(0), e.divf(e.splat(127), most));
    Value scale = e.divf(e.select(isZero, e.splat(0), most), e.splat(127));
    e.loop(e.index(0), e.index(format.jointValues()), format.blockValues,
           [&](Value block) { storeBlock(block, scale, inverse); });
  }

private:
  void storeBlock(Value block, Value scale, Value inverse) {
    BlockAddress place = blockAddress(e, op.getInit(), ValueRange{row, e.add(first, block)});
    storeScale(place, scale);
    e.loop(e.index(0), e.index(format.blockValues), 1, [&](Value i) {
      Value scaled = e.mulf(value(e.add(block, i)), inverse);
      Value level = arith::TruncIOp::create(e.b, e.loc, e.b.getI8Type(), nearest(scaled));
      e.storeScalar(level, place.bytes, place.byteIndices(e, format.fields.back(), i));
    });
  }

  Value value(Value i) { return e.loadScalar(op.getX(), {row, e.add(first, i)}); }

  Value greatest() {
    return e.loop(e.index(0), e.index(format.jointValues()), 1, {e.splat(0)},
                  [&](Value i, ValueRange before) -> Emitter::Values {
                    Value magnitude = math::AbsFOp::create(e.b, e.loc, value(i));
                    return {arith::MaximumFOp::create(e.b, e.loc, before[0], magnitude)};
                  })[0];
  }

  Value integer(int64_t value) { return arith::ConstantIntOp::create(e.b, e.loc, value, 32); }

  // Ties go to the even one, by parts that are exact.
  Value nearest(Value x) {
    Value whole = arith::FPToSIOp::create(e.b, e.loc, e.b.getI32Type(), x);
    Value rest = e.subf(x, arith::SIToFPOp::create(e.b, e.loc, x.getType(), whole));
    Value isOdd = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                        arith::AndIOp::create(e.b, e.loc, whole, integer(1)), integer(0));
    constexpr double belowHalf = 0x1.fffffep-2;  // the f32 before a half
    Value most = e.select(isOdd, e.splat(belowHalf), e.splat(0.5)), least = e.subf(e.splat(0), most);
    auto oneWhere = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
      Value holds = arith::CmpFOp::create(e.b, e.loc, predicate, rest, bound);
      return arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), holds);
    };
    whole = arith::AddIOp::create(e.b, e.loc, whole, oneWhere(arith::CmpFPredicate::OGT, most));
    return arith::SubIOp::create(e.b, e.loc, whole, oneWhere(arith::CmpFPredicate::OLT, least));
  }

  void storeScale(const BlockAddress &place, Value scale) {
    Value bits = arith::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), scale);
    for (int64_t i = 0; i < format.fields[0].wordBytes; ++i) {
      Value part = arith::ShRUIOp::create(e.b, e.loc, bits, integer(8 * i));
      Value byte = arith::TruncIOp::create(e.b, e.loc, e.b.getI8Type(), part);
      e.storeScalar(byte, place.bytes, place.byteIndices(e, format.fields[0], e.index(i)));
    }
  }

  WorkgroupEmitter &e;
  kernel::QuantizeOp op;
  const StorageFormat &format;
  const Value row, first;
};

}  // namespace

int64_t threadsOfQuantize(kernel::QuantizeOp op) {
  return threadsFor(rowWidth(op.getX()) / getStorageFormat(op).jointValues());
}

void quantizeByThreads(WorkgroupEmitter &e, kernel::QuantizeOp op) {
  const int64_t values = getStorageFormat(op).jointValues();
  eachRow(e, op, op.getX(), [&](Value row) {
    e.each(rowWidth(op.getX()) / values, [&](Value number) {
      if (values > 1)
        QuantBlockGroup(e, op, row, number).store();
      else
        e.storeScalar(e.loadScalar(op.getX(), {row, number}), op.getInit(), {row, number});
    });
  });
}

}  // namespace talc
