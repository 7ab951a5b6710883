// SPDX-License-Identifier: Apache-2.0
// Finds the bits of numbers, and decodes them.
#include "compiler/artifact/weights/LowBitTensor.h"

#include "dialects/Invariant.h"
#include "dialects/talc/formats/SmallFloats.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace talc {

constexpr int64_t wordBits = 32;

// The bit after the last number; none if that overflows.
static std::optional<int64_t> endBit(CodesAttr codes, int64_t rows, int64_t columns) {
  if (codes.getTransposed())
    std::swap(rows, columns);
  if (rows <= 0 || columns <= 0)
    return 0;
  int64_t strides = rows - 1, last = columns, result;
  if (codes.getOrder() == CodeOrder::down) {
    if (llvm::MulOverflow(rows, codes.getBits(), strides))
      return std::nullopt;
    strides = (strides - 1) / wordBits;
  }
  int64_t each = codes.getOrder() == CodeOrder::down ? wordBits : codes.getBits();
  if (codes.getOrder() == CodeOrder::swapped)
    last = llvm::alignTo(columns, 8);
  if (llvm::MulOverflow(strides, codes.getStride(), result) || llvm::MulOverflow(last, each, last) ||
      llvm::AddOverflow(result, last, result))
    return std::nullopt;
  return result;
}

LowBitTensor::LowBitTensor(std::shared_ptr<const MappedFile> opened, CodesAttr codes)
    : file(std::move(opened)), begin(file->bytes().data() + codes.getOffset()), kind(codes.getKind()),
      order(codes.getOrder()), width(codes.getBits()), stride(codes.getStride()), transposed(codes.getTransposed()) {}

std::optional<LowBitTensor> LowBitTensor::open(std::shared_ptr<const MappedFile> file, CodesAttr codes, int64_t rows,
                                               int64_t columns) {
  std::optional<int64_t> end = endBit(codes, rows, columns);
  auto present = static_cast<int64_t>(file->bytes().size());
  if (!end || codes.getOffset() > present || (*end + 7) / 8 > present - codes.getOffset())
    return std::nullopt;
  return LowBitTensor(std::move(file), codes);
}

uint64_t LowBitTensor::bitsFrom(int64_t first) const {
  uint64_t bytes = 0;
  std::memcpy(&bytes, begin + first / 8, (first % 8 + width + 7) / 8);  // at most 5
  return bytes >> (first % 8) & ((uint64_t(1) << width) - 1);
}

uint32_t LowBitTensor::code(int64_t row, int64_t column) const {
  if (transposed)
    std::swap(row, column);
  if (order == CodeOrder::along)
    return static_cast<uint32_t>(bitsFrom(row * stride + column * width));
  if (order == CodeOrder::swapped) {
    static constexpr int64_t places[] = {0, 4, 1, 5, 2, 6, 3, 7};
    return static_cast<uint32_t>(bitsFrom(row * stride + (column / 8 * 8 + places[column % 8]) * width));
  }
  uint64_t word;
  int64_t first = row * width, in = first % wordBits;
  auto load = [&](int64_t number) {
    uint32_t loaded;
    std::memcpy(&loaded, begin + (number * stride + column * wordBits) / 8, sizeof(loaded));
    return uint64_t(loaded);
  };
  word = load(first / wordBits);
  if (in + width > wordBits)
    word |= load(first / wordBits + 1) << wordBits;
  return static_cast<uint32_t>(word >> in & ((uint64_t(1) << width) - 1));
}

int32_t LowBitTensor::integer(int64_t row, int64_t column) const {
  uint32_t bits = code(row, column);
  return static_cast<int32_t>(kind == CodeKind::integer ? llvm::SignExtend64(bits, width) : bits);
}

float LowBitTensor::number(int64_t row, int64_t column) const {
  uint32_t bits = code(row, column);
  switch (kind) {
  case CodeKind::natural:
    return static_cast<float>(bits);
  case CodeKind::integer:
    return static_cast<float>(llvm::SignExtend64(bits, width));
  case CodeKind::e2m1:
    return e2m1ToFloat(bits);
  case CodeKind::e4m3:
    return e4m3ToFloat(bits);
  case CodeKind::e8m0:
    return e8m0ToFloat(bits);
  case CodeKind::f16:
    return halfToFloat(static_cast<uint16_t>(bits));
  case CodeKind::bf16:
    return bf16ToFloat(static_cast<uint16_t>(bits));
  case CodeKind::f32:
    return floatFromBits(bits);
  }
  endByDefect("the kind is known");
}

}  // namespace talc
