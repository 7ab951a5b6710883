// SPDX-License-Identifier: Apache-2.0
// Registers the types, attributes and operations of the talc dialect.
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/talc/TalcDialect.cpp.inc"
#include "dialects/talc/TalcEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/talc/TalcTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/talc/TalcAttributes.cpp.inc"

void talc::TalcDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/talc/TalcTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/talc/TalcAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/talc/TalcOps.cpp.inc"
      >();
}
