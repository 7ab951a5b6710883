// SPDX-License-Identifier: Apache-2.0
// kernel.quantize: a thread quantizes blocks of a row, or copies single values.
//
// GPUs multiply codes by scales, as they do with quantized weights. The sums of codes are for integer dot products of
// CPUs: no GPU kernel reads them, so none writes them.
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

// Quant blocks of a row that share a scale.
class QuantBlockGroup {
public:
  QuantBlockGroup(WorkgroupEmitter &e, kernel::QuantizeOp op, Value row, Value index)
      : e(e), op(op), format(getStorageFormat(op)), row(row), first(e.mul(index, format.jointValues())) {}

  void store() {
    Value maximum = findMaximum();
    // Neither the scale nor its inverse is infinite.
    Value isZero = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OLT, maximum, e.splat(0x1p-120));
    Value inverse = e.select(isZero, e.splat(0), e.divf(e.splat(127), maximum));
    Value scale = e.divf(e.select(isZero, e.splat(0), maximum), e.splat(127));
    e.loop(e.index(0), e.index(format.jointValues()), format.blockValues,
           [&](Value block) { storeBlock(block, scale, inverse); });
  }

private:
  void storeBlock(Value block, Value scale, Value inverse) {
    BlockAddress place = blockAddress(e, op.getInit(), ValueRange{row, e.add(first, block)});
    storeScale(place, scale);
    e.loop(e.index(0), e.index(format.blockValues), 1, [&](Value i) {
      Value scaled = e.mulf(value(e.add(block, i)), inverse);
      Value code = arith::TruncIOp::create(e.b, e.loc, e.b.getI8Type(), roundToNearest(scaled));
      e.storeScalar(code, place.bytes, place.byteIndices(e, format.fields.back(), i));
    });
  }

  Value value(Value i) { return e.loadScalar(op.getX(), {row, e.add(first, i)}); }

  Value findMaximum() {
    return e.loop(e.index(0), e.index(format.jointValues()), 1, {e.splat(0)},
                  [&](Value i, ValueRange before) -> Emitter::Values {
                    Value magnitude = math::AbsFOp::create(e.b, e.loc, value(i));
                    return {arith::MaximumFOp::create(e.b, e.loc, before[0], magnitude)};
                  })[0];
  }

  Value integer(int64_t value) { return arith::ConstantIntOp::create(e.b, e.loc, value, 32); }

  // Ties go to the even integer. All steps are exact.
  Value roundToNearest(Value x) {
    Value truncated = arith::FPToSIOp::create(e.b, e.loc, e.b.getI32Type(), x);
    Value rest = e.subf(x, arith::SIToFPOp::create(e.b, e.loc, x.getType(), truncated));
    Value isOdd = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                        arith::AndIOp::create(e.b, e.loc, truncated, integer(1)), integer(0));
    constexpr double belowHalf = 0x1.fffffep-2;  // the f32 before a half
    Value upper = e.select(isOdd, e.splat(belowHalf), e.splat(0.5)), lower = e.subf(e.splat(0), upper);
    auto oneWhere = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
      Value holds = arith::CmpFOp::create(e.b, e.loc, predicate, rest, bound);
      return arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), holds);
    };
    truncated = arith::AddIOp::create(e.b, e.loc, truncated, oneWhere(arith::CmpFPredicate::OGT, upper));
    return arith::SubIOp::create(e.b, e.loc, truncated, oneWhere(arith::CmpFPredicate::OLT, lower));
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

int64_t quantizeThreads(kernel::QuantizeOp op) {
  return threadsForColumns(rowWidth(op.getX()) / getStorageFormat(op).jointValues());
}

void expandQuantize(WorkgroupEmitter &e, kernel::QuantizeOp op) {
  const int64_t groupValues = getStorageFormat(op).jointValues();
  eachRow(e, op, op.getX(), [&](Value row) {
    e.each(rowWidth(op.getX()) / groupValues, [&](Value index) {
      if (groupValues > 1)
        QuantBlockGroup(e, op, row, index).store();
      else
        e.storeScalar(e.loadScalar(op.getX(), {row, index}), op.getInit(), {row, index});
    });
  });
}

}  // namespace talc
