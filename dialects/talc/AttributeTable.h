// SPDX-License-Identifier: Apache-2.0
// Tables of the discardable attributes of a dialect, by which it verifies them.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace talc {

struct DiscardableAttribute {
  llvm::StringRef name;
  bool (*hasType)(mlir::Attribute value);
  llvm::StringLiteral type;  // for messages
  bool (*isCarrier)(mlir::Operation *op);
  llvm::StringLiteral carriers;  // for messages
};

// Refuses an attribute that is not in the table, has another type, or is on an operation that may not carry it.
llvm::LogicalResult verifyDiscardable(mlir::Operation *op, mlir::NamedAttribute attribute,
                                      llvm::ArrayRef<DiscardableAttribute> table);

template <typename T> bool isAttribute(mlir::Attribute value) {
  return mlir::isa<T>(value);
}
template <typename T> bool isTypedArray(mlir::Attribute value) {
  auto array = mlir::dyn_cast<mlir::ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<T>);
}
inline bool isI64(mlir::Attribute value) {
  auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value);
  return integer && integer.getType().isSignlessInteger(64);
}

template <typename... Ops> bool isOperation(mlir::Operation *op) {
  return mlir::isa<Ops...>(op);
}
inline bool isAnyOperation(mlir::Operation *) {
  return true;
}

}  // namespace talc
