// SPDX-License-Identifier: Apache-2.0
// Storage formats in the arithmetic of LLVM's APFloat, which knows every type of single numbers.
#include "compiler/reference/StoredValues.h"

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
  for (float &value : weight.values) {
    APFloat rounded(value);
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

//===--- the table --------------------------------------------------------------------------------------------===//

namespace {

struct Storage {
  bool (*covers)(mlir::Type element);
  uint64_t (*bytes)(mlir::Type element, uint64_t count);
  void (*round)(Weight &weight, mlir::Type element);
  void (*decode)(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values);
};

// A format of blocks is a row of its own.
constexpr Storage table[] = {{isNumber, numberBytes, roundNumbers, decodeNumbers}};

const Storage &storageOf(mlir::Type element) {
  const Storage *found = llvm::find_if(table, [&](const Storage &storage) { return storage.covers(element); });
  assert(found != std::end(table) && "a type that verifiers refuse");
  return *found;
}

}  // namespace

void roundValues(Weight &weight, mlir::Type element) {
  storageOf(element).round(weight, element);
}

uint64_t storedBytes(mlir::Type element, uint64_t count) {
  return storageOf(element).bytes(element, count);
}

void decodeValues(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values) {
  storageOf(element).decode(bytes, element, values);
}

}  // namespace talc::reference
