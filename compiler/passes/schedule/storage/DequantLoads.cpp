// SPDX-License-Identifier: Apache-2.0
// Dequantizes values of the formats of dialects/talc/formats where they are loaded.
//
// Values are those of the decode function of the format: products and sums are rounded separately, never fused.
#include "compiler/passes/schedule/storage/LoadsAndStores.h"

#include "compiler/passes/schedule/storage/BlockReader.h"
#include "dialects/talc/formats/Iq4Values.h"

using namespace mlir;

namespace talc {

namespace {

//===--- blocks of 32 -------------------------------------------------------------------------------------------===//

// The lower four bits of every value: nibbles of 16 bytes, whose high halves are values 16 to 31.
Value nibbles(BlockReader &r, int64_t field) {
  Value byte = r.unsignedBytes(field, r.e.rem(r.place, 16), /*each=*/true);
  return r.bits(byte, r.e.mul(r.e.div(r.place, 16), 4), 15);
}

Value loadQ8_0(BlockReader &r) {
  return r.e.mulf(r.toFloat(r.signedBytes(1, r.place, /*each=*/true)), r.half(0));
}

Value loadQ8Sums(BlockReader &r) {
  return r.e.mulf(r.toFloat(r.signedBytes(3, r.place, /*each=*/true)), r.number(0, r.e.b.getF32Type()));
}

Value loadQ4_0(BlockReader &r) {
  return r.e.mulf(r.toFloat(r.less(nibbles(r, 1), 8)), r.half(0));
}

Value loadQ4_1(BlockReader &r) {
  return r.e.addf(r.e.mulf(r.toFloat(nibbles(r, 2)), r.half(0)), r.half(1));
}

Value loadQ5_0(BlockReader &r) {
  return r.e.mulf(r.toFloat(r.less(r.join(nibbles(r, 2), r.bitOfEach(1), 4), 16)), r.half(0));
}

Value loadQ5_1(BlockReader &r) {
  return r.e.addf(r.e.mulf(r.toFloat(r.join(nibbles(r, 3), r.bitOfEach(2), 4)), r.half(0)), r.half(1));
}

//===--- k-quants ------------------------------------------------------------------------------------------===//

// Two groups share 32 bytes: one has the low halves, the other the high ones.
Value loadScaleAndMinimum(BlockReader &r, int64_t lowField, int64_t highField) {
  Emitter &e = r.e;
  Value group = e.div(r.place, 32), inGroup = e.rem(r.place, 32);
  Value byte = r.unsignedBytes(lowField, e.add(e.mul(e.div(group, 2), 32), inGroup), /*each=*/true);
  Value code = r.bits(byte, e.mul(e.rem(group, 2), 4), 15);
  if (highField)
    code = r.join(code, r.bits(r.unsignedBytes(highField, inGroup, /*each=*/true), group, 1), 4);
  auto [scale, minimum] = r.groupScales(group);
  return e.subf(e.mulf(scale, r.toFloat(code)), minimum);
}

Value loadQ4_K(BlockReader &r) {
  return loadScaleAndMinimum(r, 3, 0);
}

Value loadQ5_K(BlockReader &r) {
  return loadScaleAndMinimum(r, 4, 3);
}

Value loadQ6_K(BlockReader &r) {
  Emitter &e = r.e;
  Value half = e.div(r.place, 128), quarter = e.div(e.rem(r.place, 128), 32);
  Value low = r.unsignedBytes(0, e.add(e.mul(half, 64), e.rem(r.place, 64)), /*each=*/true);
  Value high = r.unsignedBytes(1, e.add(e.mul(half, 32), e.rem(r.place, 32)), /*each=*/true);
  Value code = r.join(r.bits(low, e.mul(e.div(quarter, 2), 4), 15), r.bits(high, e.mul(quarter, 2), 3), 4);
  Value scale = r.signedBytes(2, e.div(r.place, 16), /*each=*/false);
  return e.mulf(e.mulf(r.half(3), r.toFloat(scale)), r.toFloat(r.less(code, 32)));
}

// The two bits of each value: 128 values share 32 bytes.
Value quarters(BlockReader &r, int64_t field) {
  Emitter &e = r.e;
  Value byte = e.add(e.mul(e.div(r.place, 128), 32), e.rem(r.place, 32));
  return r.bits(r.unsignedBytes(field, byte, /*each=*/true), e.mul(e.rem(e.div(r.place, 32), 4), 2), 3);
}

Value loadQ2_K(BlockReader &r) {
  Emitter &e = r.e;
  Value scales = r.unsignedBytes(0, e.div(r.place, 16), /*each=*/false);
  Value scale = e.mulf(r.half(2), r.toFloat(r.mask(scales, 15)));
  Value minimum = e.mulf(r.half(3), r.toFloat(r.bits(scales, e.index(4), 15)));
  return e.subf(e.mulf(scale, r.toFloat(quarters(r, 1))), minimum);
}

// The scale of a group has its lower four bits in a half of 8 bytes, and the upper two in a quarter of the 4 behind.
Value loadQ3_K(BlockReader &r) {
  Emitter &e = r.e;
  Value group = e.div(r.place, 16);
  auto part = [&](Value byte, Value shift, int64_t mask) {
    return r.bits(r.unsignedBytes(2, byte, /*each=*/false), shift, mask);
  };
  Value low = part(e.rem(group, 8), e.mul(e.div(group, 8), 4), 15);
  Value high = part(e.add(e.rem(group, 4), 8), e.mul(e.div(group, 4), 2), 3);
  Value scale = e.mulf(r.half(3), r.toFloat(r.less(r.join(low, high, 4), 32)));
  Value third = r.bits(r.unsignedBytes(0, e.rem(r.place, 32), /*each=*/true), e.div(r.place, 32), 1);
  return e.mulf(scale, r.toFloat(r.less(r.join(quarters(r, 1), third, 2), 4)));
}

//===--- codes of a table ----------------------------------------------------------------------------------------===//

Value loadIq4Nl(BlockReader &r) {
  return r.e.mulf(r.toFloat(r.lookUp(nibbles(r, 1), iq4Values)), r.half(0));
}

// The scale of a group has its lower four bits in a half of a byte, and the upper two in a quarter of another.
Value loadIq4Xs(BlockReader &r) {
  Emitter &e = r.e;
  Value group = e.div(r.place, 32), inGroup = e.rem(r.place, 32);
  auto part = [&](int64_t field, Value byte, Value shift, int64_t mask) {
    return r.bits(r.unsignedBytes(field, byte, /*each=*/false), shift, mask);
  };
  Value low = part(2, e.div(group, 2), e.mul(e.rem(group, 2), 4), 15);
  Value high = part(1, e.div(group, 4), e.mul(e.rem(group, 4), 2), 3);
  Value scale = e.mulf(r.half(0), r.toFloat(r.less(r.join(low, high, 4), 32)));
  Value byte = r.unsignedBytes(3, e.add(e.mul(group, 16), e.rem(inGroup, 16)), /*each=*/true);
  return e.mulf(scale, r.toFloat(r.lookUp(r.bits(byte, e.mul(e.div(inGroup, 16), 4), 15), iq4Values)));
}

//===--- floats of 4 and 8 bits --------------------------------------------------------------------------------===//

// The bits are those of an f16 except for the exponent's bias, as for e4m3.
constexpr double e2m1Bias = 0x1p14;
Value halfOfE2M1(BlockReader &r, Value code) {
  Value sign = r.shiftLeft(r.mask(code, 8), 12), magnitude = r.shiftLeft(r.mask(code, 7), 9);
  return r.fromHalves(r.join(sign, magnitude, 0));
}

Value fromE2M1(BlockReader &r, Value code) {
  return r.e.mulf(halfOfE2M1(r, code), r.factor(e2m1Bias));
}

Value loadMxfp4(BlockReader &r) {
  Value scale = r.fromE8M0(r.unsignedBytes(0, r.e.index(0), /*each=*/false));
  return r.e.mulf(fromE2M1(r, nibbles(r, 1)), scale);
}

Value loadNvfp4(BlockReader &r) {
  Value scale = r.fromE4M3(r.signedBytes(0, r.e.div(r.place, 16), /*each=*/false));
  return r.e.mulf(fromE2M1(r, r.groupedNibbles(1)), scale);
}

//===--- values that are rounded to 16 bits -----------------------------------------------------------------------===//

struct RoundToF16 {
  static FloatType type(OpBuilder &b) { return b.getF16Type(); }
  static constexpr double large = 0x1p13;  // as for bf16, below
  static Value round(BlockReader &r, Value x) {
    auto narrow = VectorType::get({r.lanes}, r.e.b.getF16Type());
    Value rounded = arith::TruncFOp::create(r.e.b, r.e.loc, narrow, x);
    return arith::ExtFOp::create(r.e.b, r.e.loc, x.getType(), rounded);
  }
};

// Rounds to nearest even. Instructions for bf16 flush subnormal numbers to zero, and integer code takes five
// operations. Added to a number 2^16 times as large, x is rounded to as many bits as bf16 has, with an even bit before
// them:
//
//   large        1.1 0000 0000 0000 0000 0000 00
//   x                              1 .011 0110 1101 ...
//   large + x    1.1 0000 0000 0000 001 011 0111         rounded here, once; minus large: 1.0110111
//
// Numbers below 2^-126 stay as they are.
struct RoundToBf16 {
  static FloatType type(OpBuilder &b) { return b.getBF16Type(); }
  static constexpr double large = 0x1p16;  // added to it, an f32 keeps the bits of a bf16

  // Adds 1.5 times the power of two of x, so that the sum has the same exponent for either sign of x.
  static Value round(BlockReader &r, Value x) {
    if (!r.e.keepsSums())
      return roundBits(r, x);
    Value power = r.as(r.mask(r.as(x, r.e.b.getI32Type()), 0x7f800000), r.e.b.getF32Type());
    return r.e.fma(power, r.factor(-1.5 * large), r.e.fma(power, r.factor(1.5 * large), x));
  }

private:
  static Value roundBits(BlockReader &r, Value x) {
    Value bits = r.as(x, r.e.b.getI32Type());
    Value odd = r.bits(bits, r.e.index(16), 1);
    Value rounded = r.plus(r.plus(bits, r.constant(0x7fff)), odd);
    return r.as(r.mask(rounded, int64_t(0xffff0000)), r.e.b.getF32Type());
  }
};

// The four bits of every value; groups of 32 values have their first half in the low halves of 16 bytes.
Value levels4(BlockReader &r, int64_t field) {
  Emitter &e = r.e;
  Value byte = e.add(e.mul(e.div(r.place, 32), 16), e.rem(r.place, 16));
  return r.bits(r.unsignedBytes(field, byte, /*each=*/true), e.mul(e.rem(e.div(r.place, 16), 2), 4), 15);
}

// half * bias * scale, rounded once: the product of the powers of two and the scale, which many values share, is exact.
Value halfTimes(BlockReader &r, Value half, double bias, Value scale) {
  return r.e.mulf(half, r.e.mulf(scale, r.factor(bias)));
}

template <typename To> Value loadScaledFp4(BlockReader &r) {
  Value scale = r.fromE4M3(r.signedBytes(1, r.e.div(r.place, 16), /*each=*/false));
  scale = r.e.mulf(scale, r.number(0, r.e.b.getF32Type()));
  return To::round(r, halfTimes(r, halfOfE2M1(r, r.groupedNibbles(2)), e2m1Bias, scale));
}

template <typename To> Value loadFp8(BlockReader &r) {
  Value half = r.halfOfE4M3(r.signedBytes(1, r.place, /*each=*/true));
  return To::round(r, halfTimes(r, half, BlockReader::e4m3Bias, r.number(0, r.e.b.getF32Type())));
}

// code * scale, rounded once, as a sum of the exact product and a multiple of it by an even number. The sum is a single
// product with a factor that many codes share, and which is exact, too. Values of checkpoints are finite, and below
// 2^-14 they do not have more bits than f16.
template <typename To> Value scaledLevel(BlockReader &r, Value code) {
  Value scale = r.number(0, To::type(r.e.b));
  if (!r.e.keepsSums())
    return To::round(r, r.e.mulf(code, scale));
  Value sum = r.e.mulf(code, r.e.mulf(scale, r.factor(To::large + 1)));
  return r.e.fma(code, r.e.mulf(scale, r.factor(-To::large)), sum);
}

// code - zero, for an unsigned code: added to 2^23 it is the low bits of the f32, and needs no conversion.
constexpr double beside = 0x1p23;
Value levelBehind(BlockReader &r, Value code, Value besideZero) {
  Value sum = r.as(r.join(code, r.constant(0x4b000000), 0), r.e.b.getF32Type());
  return r.e.subf(sum, besideZero);
}

Value behindZeroPoint(BlockReader &r, Value code) {
  Value zero = r.toFloat(r.unsignedBytes(1, r.e.index(0), /*each=*/false));
  return levelBehind(r, code, r.e.addf(zero, r.factor(beside)));
}

template <typename To> Value loadInt4(BlockReader &r) {
  return scaledLevel<To>(r, levelBehind(r, levels4(r, 1), r.factor(beside + 8)));
}

template <typename To> Value loadInt4z(BlockReader &r) {
  return scaledLevel<To>(r, behindZeroPoint(r, levels4(r, 2)));
}

template <typename To> Value loadInt8(BlockReader &r) {
  return scaledLevel<To>(r, r.toFloat(r.signedBytes(1, r.place, /*each=*/true)));
}

template <typename To> Value loadInt8z(BlockReader &r) {
  return scaledLevel<To>(r, behindZeroPoint(r, r.unsignedBytes(2, r.place, /*each=*/true)));
}

//===--- the table ----------------------------------------------------------------------------------------------===//

template <Value (*load)(BlockReader &)>
Value loadPlaced(Emitter &e, const StorageFormat &format, const BlockAddress &place, int64_t lanes) {
  BlockReader reader(e, format, place, lanes);
  return load(reader);
}

template <Value (*load)(BlockReader &)> Value loadVector(Emitter &e, Value buffer, ValueRange at, Value mask) {
  BlockAddress place = blockAddress(e, buffer, at);
  Value values = loadPlaced<load>(e, elementFormat(cast<MemRefType>(buffer.getType())), place, e.lanes);
  return mask ? e.select(mask, values, e.splat(0)) : values;
}

template <Value (*load)(BlockReader &)> Value loadScalar(Emitter &e, Value buffer, ValueRange at) {
  BlockAddress place = blockAddress(e, buffer, at);
  Value value = loadPlaced<load>(e, elementFormat(cast<MemRefType>(buffer.getType())), place, 1);
  return vector::ExtractOp::create(e.b, e.loc, value, 0);
}

struct BlockLoads : FormatLoads {
  Value (*placed)(Emitter &e, const StorageFormat &format, const BlockAddress &place, int64_t lanes);
};

template <Value (*load)(BlockReader &)>
constexpr BlockLoads loads = {{loadVector<load>, loadScalar<load>}, loadPlaced<load>};

struct Row {
  std::string_view format;
  BlockLoads loads;
};

template <Value (*load)(BlockReader &)> constexpr Row row(std::string_view format) {
  return {format, loads<load>};
}

constexpr Row table[] = {row<loadQ8_0>("q8_0"),          row<loadQ4_0>("q4_0"),       row<loadQ4_1>("q4_1"),
                         row<loadQ5_0>("q5_0"),          row<loadQ5_1>("q5_1"),       row<loadQ4_K>("q4_k"),
                         row<loadQ5_K>("q5_k"),          row<loadQ6_K>("q6_k"),       row<loadQ2_K>("q2_k"),
                         row<loadQ3_K>("q3_k"),          row<loadIq4Nl>("iq4_nl"),    row<loadIq4Xs>("iq4_xs"),
                         row<loadMxfp4>("mxfp4"),        row<loadNvfp4>("nvfp4"),     row<loadQ8Sums>("q8_sums"),
                         row<loadQ8Sums>("q8_256_sums"), row<loadQ8Sums>("q8_k_sums")};

// Formats with names KIND_VALUES_TYPE.
struct Variants {
  std::string_view kind;
  BlockLoads toBf16, toF16;
};

template <Value (*toBf16)(BlockReader &), Value (*toF16)(BlockReader &)>
constexpr Variants variants(std::string_view kind) {
  return {kind, loads<toBf16>, loads<toF16>};
}

constexpr Variants variantTable[] = {variants<loadInt4<RoundToBf16>, loadInt4<RoundToF16>>("int4"),
                                     variants<loadInt4z<RoundToBf16>, loadInt4z<RoundToF16>>("int4z"),
                                     variants<loadInt8<RoundToBf16>, loadInt8<RoundToF16>>("int8"),
                                     variants<loadInt8z<RoundToBf16>, loadInt8z<RoundToF16>>("int8z"),
                                     variants<loadFp8<RoundToBf16>, loadFp8<RoundToF16>>("fp8"),
                                     variants<loadScaledFp4<RoundToBf16>, loadScaledFp4<RoundToF16>>("nvfp4")};

const BlockLoads *findLoads(std::string_view format) {
  for (const Row &known : table)
    if (known.format == format)
      return &known.loads;
  auto [kind, rest] = StringRef(format).split('_');
  for (const Variants &known : variantTable)
    if (StringRef(known.kind) == kind)
      return rest.ends_with("_bf16") ? &known.toBf16 : &known.toF16;
  return nullptr;
}

}  // namespace

const FormatLoads *findDequantLoads(std::string_view format) {
  return findLoads(format);
}

Value dequantize(Emitter &e, const StorageFormat &format, const BlockAddress &place) {
  return findLoads(format.name)->placed(e, format, place, e.lanes);
}

Value dequantizeScalar(Emitter &e, const StorageFormat &format, const BlockAddress &place) {
  return vector::ExtractOp::create(e.b, e.loc, findLoads(format.name)->placed(e, format, place, 1), 0);
}

}  // namespace talc
