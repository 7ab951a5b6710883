// SPDX-License-Identifier: Apache-2.0
// Decodes blocks value by value, from where each of its bits lies. Source: the block layouts of ggml (ggml-common.h).
#include "compiler/reference/StoredBlocks.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"

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
    bool least = j >= 8;
    if (group < 4)
      return b[group + (least ? 4 : 0)] % 64;
    int low = least ? b[group + 4] / 16 : b[group + 4] % 16;
    return low + 16 * (b[least ? group : group - 4] / 64);
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

struct Format {
  llvm::StringLiteral name;
  int values, bytes;
  double (*value)(Block block, int number);
};

constexpr Format table[] = {{"q8_0", 32, 34, q8_0},   {"q4_0", 32, 18, q4_0},  {"q4_1", 32, 20, q4_1},
                            {"q5_0", 32, 22, q5_0},   {"q5_1", 32, 24, q5_1},  {"q4_k", 256, 144, q4_k},
                            {"q5_k", 256, 176, q5_k}, {"q6_k", 256, 210, q6_k}};

const Format *find(llvm::StringRef name) {
  auto found = llvm::find_if(table, [&](const Format &format) { return format.name == name; });
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

bool knowsBlocks(llvm::StringRef format) {
  return find(format);
}

uint64_t blockBytes(llvm::StringRef format, uint64_t values) {
  const Format &known = *find(format);
  return values / known.values * known.bytes;
}

void decodeBlocks(llvm::StringRef format, llvm::StringRef bytes, std::vector<float> &values) {
  const Format &known = *find(format);
  for (size_t i = 0; i < values.size(); ++i) {
    Block block{bytes.bytes_begin() + i / known.values * known.bytes};
    values[i] = static_cast<float>(known.value(block, static_cast<int>(i % known.values)));
  }
}

}  // namespace talc::reference
