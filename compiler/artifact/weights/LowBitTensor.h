// SPDX-License-Identifier: Apache-2.0
// Reads the numbers of a #talc.codes: a tensor of a few bits per element.
#pragma once

#include "compiler/artifact/weights/MappedFile.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace talc {

// Keeps the file open; may be read by several threads at a time.
class LowBitTensor {
public:
  // None if the file is too short for `rows` rows of `columns` numbers.
  static std::optional<LowBitTensor> open(std::shared_ptr<const MappedFile> file, CodesAttr codes, int64_t rows,
                                          int64_t columns);

  // The bits of a number.
  uint32_t code(int64_t row, int64_t column) const;
  // The value of an integer; the bits of other numbers.
  int32_t integer(int64_t row, int64_t column) const;
  float number(int64_t row, int64_t column) const;

  bool isSigned() const { return kind == CodeKind::integer; }
  int64_t bits() const { return width; }

private:
  LowBitTensor(std::shared_ptr<const MappedFile> file, CodesAttr codes);
  uint64_t bitsFrom(int64_t first) const;

  std::shared_ptr<const MappedFile> file;
  const uint8_t *begin;
  CodeKind kind;
  CodeOrder order;
  int64_t width, stride;
  bool transposed;
};

}  // namespace talc
