// SPDX-License-Identifier: Apache-2.0
// Decodes blocks value by value, from the positions of their bits. Source: the block layouts of ggml (ggml-common.h).
#include "compiler/reference/StoredValues.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

namespace talc::reference {

namespace {

using llvm::APFloat;

struct Block {
  const uint8_t *bytes;

  double half(int at) const {
    llvm::APInt word(16, bytes[at] | bytes[at + 1] << 8);
    APFloat value(APFloat::IEEEhalf(), word);
    bool inexact;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return value.convertToDouble();
  }
  int integer(int at) const { return bytes[at] < 128 ? bytes[at] : bytes[at] - 256; }
  int nibble(int at, bool upper) const { return upper ? bytes[at] / 16 : bytes[at] % 16; }
  int bit(int at, int number) const { return bytes[at + number / 8] >> (number % 8) & 1; }

  // Number j of the 16 numbers of 6 bits at byte 4: eight scales, then eight minima.
  int six(int j) const {
    const uint8_t *b = bytes + 4;
    int group = j % 8;
    bool isMinimum = j >= 8;
    if (group < 4)
      return b[group + (isMinimum ? 4 : 0)] % 64;
    int low = isMinimum ? b[group + 4] / 16 : b[group + 4] % 16;
    return low + 16 * (b[isMinimum ? group : group - 4] / 64);
  }
};

double q8_0(Block b, int i) {
  return b.half(0) * b.integer(2 + i);
}
double q4_0(Block b, int i) {
  return b.half(0) * (b.nibble(2 + i % 16, i >= 16) - 8);
}
double q4_1(Block b, int i) {
  return b.half(0) * b.nibble(4 + i % 16, i >= 16) + b.half(2);
}
double q5_0(Block b, int i) {
  return b.half(0) * (b.nibble(6 + i % 16, i >= 16) + 16 * b.bit(2, i) - 16);
}
double q5_1(Block b, int i) {
  return b.half(0) * (b.nibble(8 + i % 16, i >= 16) + 16 * b.bit(4, i)) + b.half(2);
}
double q4_k(Block b, int i) {
  int level = b.nibble(16 + i / 64 * 32 + i % 32, i / 32 % 2);
  return b.half(0) * b.six(i / 32) * level - b.half(2) * b.six(8 + i / 32);
}
double q5_k(Block b, int i) {
  int level = b.nibble(48 + i / 64 * 32 + i % 32, i / 32 % 2) + 16 * b.bit(16 + i % 32, i / 32);
  return b.half(0) * b.six(i / 32) * level - b.half(2) * b.six(8 + i / 32);
}
double q6_k(Block b, int i) {
  int upper = b.bytes[128 + i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3;
  int level = b.nibble(i / 128 * 64 + i % 64, i % 128 >= 64) + 16 * upper - 32;
  return b.half(208) * b.integer(192 + i / 16) * level;
}

double q2_k(Block b, int i) {
  int level = b.bytes[16 + i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3, scales = b.bytes[i / 16];
  return b.half(80) * (scales % 16) * level - b.half(82) * (scales / 16);
}

// The 16 scales of 6 bits have their lower four in the halves of 8 bytes and their upper two in the quarters of 4.
double q3_k(Block b, int i) {
  int group = i / 16, low = b.nibble(96 + group % 8, group >= 8),
      high = b.bytes[104 + group % 4] >> (group / 4 * 2) & 3;
  int level = (b.bytes[32 + i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3) + 4 * (b.bytes[i % 32] >> (i / 32) & 1);
  return b.half(108) * (low + 16 * high - 32) * (level - 4);
}

int iq4(int code) {
  constexpr int table[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  return table[code];
}
double iq4_nl(Block b, int i) {
  return b.half(0) * iq4(b.nibble(2 + i % 16, i >= 16));
}
double iq4_xs(Block b, int i) {
  int group = i / 32, low = b.nibble(4 + group / 2, group % 2), high = b.bytes[2 + group / 4] >> (group % 4 * 2) & 3;
  return b.half(0) * (low + 16 * high - 32) * iq4(b.nibble(8 + group * 16 + i % 16, i % 32 >= 16));
}

//===--- formats of checkpoints -----------------------------------------------------------------------------------===//

double fromBits(const llvm::fltSemantics &semantics, unsigned width, uint64_t bits) {
  APFloat value(semantics, llvm::APInt(width, bits));
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}
double fp4(int code) {
  return fromBits(APFloat::Float4E2M1FN(), 4, code);
}
double fp8(int code) {
  return fromBits(APFloat::Float8E4M3FN(), 8, code);
}

double mxfp4(Block b, int i) {
  return fp4(b.nibble(1 + i % 16, i >= 16)) * fromBits(APFloat::Float8E8M0FNU(), 8, b.bytes[0]);
}
double nvfp4(Block b, int i) {
  return fp4(b.nibble(4 + i / 16 * 8 + i % 8, i % 16 >= 8)) * fp8(b.bytes[i / 16]);
}

// Quantized activations: integers with a scale.
template <int first> double scaled(Block b, int i) {
  uint32_t bits = llvm::support::endian::read32le(b.bytes);
  return b.integer(first + i) * fromBits(APFloat::IEEEsingle(), 32, bits);
}

struct Format {
  llvm::StringLiteral name;
  int values, bytes;
  double (*value)(Block block, int number);
};

constexpr Format table[] = {{"q8_0", 32, 34, q8_0},
                            {"q4_0", 32, 18, q4_0},
                            {"q4_1", 32, 20, q4_1},
                            {"q5_0", 32, 22, q5_0},
                            {"q5_1", 32, 24, q5_1},
                            {"q4_k", 256, 144, q4_k},
                            {"q5_k", 256, 176, q5_k},
                            {"q6_k", 256, 210, q6_k},
                            {"q2_k", 256, 84, q2_k},
                            {"q3_k", 256, 110, q3_k},
                            {"iq4_nl", 32, 18, iq4_nl},
                            {"iq4_xs", 256, 136, iq4_xs},
                            {"mxfp4", 32, 17, mxfp4},
                            {"nvfp4", 64, 36, nvfp4},
                            {"q8_sums", 32, 48, scaled<16>},
                            {"q8_256_sums", 32, 48, scaled<16>},
                            {"q8_k_sums", 256, 340, scaled<84>}};

const Format *find(llvm::StringRef name) {
  auto it = llvm::find_if(table, [&](const Format &format) { return format.name == name; });
  return it == std::end(table) ? nullptr : it;
}

// KIND_VALUES_TYPE: the values of a group, rounded to TYPE.
struct Group {
  llvm::StringRef kind;
  int values = 0, bytes = 0;
  const llvm::fltSemantics *type = nullptr;

  explicit Group(llvm::StringRef name) {
    auto [first, rest] = name.split('_');
    auto [number, rounded] = rest.split('_');
    if (number.getAsInteger(10, values) || (rounded != "bf16" && rounded != "f16"))
      return;
    type = rounded == "f16" ? &APFloat::IEEEhalf() : &APFloat::BFloat();
    kind = first;
    bytes = kind == "nvfp4"   ? 4 + values / 16 + values / 2
            : kind == "fp8"   ? 4 + values
            : kind == "int4"  ? 2 + values / 2
            : kind == "int4z" ? 3 + values / 2
            : kind == "int8"  ? 2 + values
                              : 3 + values;
  }

  double f32(Block b) const { return fromBits(APFloat::IEEEsingle(), 32, llvm::support::endian::read32le(b.bytes)); }
  double scale(Block b) const { return fromBits(*type, 16, llvm::support::endian::read16le(b.bytes)); }

  double product(Block b, int i) const {
    int low = i / 32 * 16 + i % 16;
    bool upper = i % 32 >= 16;
    if (kind == "nvfp4")  // the scale is an f32, too
      return fp4(b.nibble(4 + values / 16 + i / 16 * 8 + i % 8, i % 16 >= 8)) *
             static_cast<float>(fp8(b.bytes[4 + i / 16]) * f32(b));
    if (kind == "fp8")
      return fp8(b.bytes[4 + i]) * f32(b);
    if (kind == "int4")
      return (b.nibble(2 + low, upper) - 8) * scale(b);
    if (kind == "int4z")
      return (b.nibble(3 + low, upper) - b.bytes[2]) * scale(b);
    return kind == "int8" ? b.integer(2 + i) * scale(b) : (b.bytes[3 + i] - b.bytes[2]) * scale(b);
  }

  double value(Block b, int i) const {
    APFloat result(static_cast<float>(product(b, i)));
    bool inexact;
    result.convert(*type, APFloat::rmNearestTiesToEven, &inexact);
    result.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return result.convertToDouble();
  }
};

template <typename Known> void decodeWith(const Known &known, llvm::StringRef bytes, std::vector<float> &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Block block{bytes.bytes_begin() + i / known.values * known.bytes};
    values[i] = static_cast<float>(known.value(block, static_cast<int>(i % known.values)));
  }
}

}  // namespace

bool knowsBlocks(llvm::StringRef format) {
  return find(format) || Group(format).type;
}

uint64_t blockBytes(llvm::StringRef format, uint64_t values) {
  if (const Format *known = find(format))
    return values / known->values * known->bytes;
  Group group(format);
  return values / group.values * group.bytes;
}

void decodeBlocks(llvm::StringRef format, llvm::StringRef bytes, std::vector<float> &values) {
  if (const Format *known = find(format))
    decodeWith(*known, bytes, values);
  else
    decodeWith(Group(format), bytes, values);
}

}  // namespace talc::reference
