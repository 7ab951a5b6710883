// SPDX-License-Identifier: Apache-2.0
// Storage formats in the arithmetic of LLVM's APFloat, which knows every type of single numbers, and blocks.
#include "compiler/reference/StoredValues.h"

#include "dialects/Invariant.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"

namespace talc::reference {

using llvm::APFloat;
using llvm::APInt;

static float toFloat(APFloat value) {
  bool inexact;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToFloat();
}

//===--- single numbers ---------------------------------------------------------------------------------------===//

static bool isNumber(mlir::Type element) {
  return mlir::isa<mlir::FloatType>(element);
}

static uint64_t numberBytes(mlir::Type element, uint64_t count) {
  return mlir::cast<mlir::FloatType>(element).getWidth() / 8 * count;
}

static void roundNumbers(Weight &weight, mlir::Type element) {
  const llvm::fltSemantics &semantics = mlir::cast<mlir::FloatType>(element).getFloatSemantics();
  for (double &value : weight.values) {
    APFloat rounded(static_cast<float>(value));
    bool inexact;
    rounded.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
    value = toFloat(rounded);
  }
}

// Little-endian.
static void decodeNumbers(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values) {
  uint64_t size = numberBytes(element, 1);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t word = 0;
    for (uint64_t byte = 0; byte < size; ++byte)
      word |= uint64_t(uint8_t(bytes[i * size + byte])) << (8 * byte);
    APFloat value(mlir::cast<mlir::FloatType>(element).getFloatSemantics(), APInt(8 * size, word));
    values[i] = toFloat(value);
  }
}

//===--- blocks -----------------------------------------------------------------------------------------------===//

static StoredType blockType(mlir::Type element) {
  auto stored = mlir::dyn_cast<StoredType>(element);
  return stored && knowsBlocks(stored.getFormat()->name) ? stored : StoredType();
}

static bool isBlocks(mlir::Type element) {
  return static_cast<bool>(blockType(element));
}

static uint64_t bytesOfBlocks(mlir::Type element, uint64_t count) {
  return blockBytes(blockType(element).getFormat()->name, count);
}

static void decodeStored(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values) {
  decodeBlocks(blockType(element).getFormat()->name, bytes, values);
}

// The codes of a block are taken from the format, which defines them; their meaning is not. Blocks run along rows, also
// in panels.
static void roundBlocks(Weight &weight, mlir::Type element) {
  const StorageFormat &format = *blockType(element).getFormat();
  if (weight.blocks == format.name)
    return;
  weight.blocks = format.name;
  int64_t lanes = weight.shape.size() == 3 ? weight.shape[2] : 1, depth = weight.shape[1];
  std::vector<float> row(depth);
  std::vector<uint8_t> bytes(format.byteSize(depth));
  for (int64_t first = 0; first < static_cast<int64_t>(weight.values.size()); first += depth * lanes)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      for (int64_t k = 0; k < depth; ++k)
        row[k] = weight.values[first + k * lanes + lane];
      format.encode(row.data(), depth, 1, bytes.data());
      decodeBlocks(format.name, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, row);
      for (int64_t k = 0; k < depth; ++k)
        weight.values[first + k * lanes + lane] = row[k];
    }
}

//===--- the table --------------------------------------------------------------------------------------------===//

namespace {

struct Storage {
  bool (*covers)(mlir::Type element);
  uint64_t (*bytes)(mlir::Type element, uint64_t count);
  void (*round)(Weight &weight, mlir::Type element);
  void (*decode)(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values);
};

constexpr Storage table[] = {{isNumber, numberBytes, roundNumbers, decodeNumbers},
                             {isBlocks, bytesOfBlocks, roundBlocks, decodeStored}};

const Storage &findStorage(mlir::Type element) {
  const Storage *found = llvm::find_if(table, [&](const Storage &storage) { return storage.covers(element); });
  require(found != std::end(table), "verifiers refuse types that cannot be stored");
  return *found;
}

}  // namespace

// The mean square is f32's, as the format wants it.
void roundRows(Weight &weight, const StorageFormat &format, llvm::ArrayRef<float> importance) {
  int64_t depth = weight.shape[1], rows = weight.shape[0], parts = std::max<int64_t>(1, importance.size() / depth);
  std::vector<uint8_t> bytes(format.byteSize(depth));
  std::vector<float> row(depth);
  for (int64_t n = 0; n < rows; ++n) {
    std::copy_n(weight.values.begin() + n * depth, depth, row.begin());
    float squares = 0;
    for (float value : row)
      squares += value * value;
    if (importance.empty() || !format.encodeByImportance)
      format.encode(row.data(), depth, 1, bytes.data());
    else
      format.encodeByImportance(row.data(), depth, &importance[n / (rows / parts) * depth],
                                squares / static_cast<float>(depth), bytes.data());
    decodeBlocks(format.name, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, row);
    llvm::copy(row, weight.values.begin() + n * depth);
  }
  weight.blocks = format.name;
}

void roundValues(Weight &weight, mlir::Type element) {
  findStorage(element).round(weight, element);
}

uint64_t storedBytes(mlir::Type element, uint64_t count) {
  return findStorage(element).bytes(element, count);
}

void decodeValues(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values) {
  findStorage(element).decode(bytes, element, values);
}

}  // namespace talc::reference
