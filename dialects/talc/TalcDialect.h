// SPDX-License-Identifier: Apache-2.0
// C++ classes of the talc dialect; the definitions with their documentation are in TalcDialect.td and TalcOps.td.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/talc/TalcDialect.h.inc"
#include "dialects/talc/TalcEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/talc/TalcTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/talc/TalcAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/talc/TalcOps.h.inc"

namespace talc {

// Attributes of the module that holds a model.
constexpr llvm::StringLiteral directoryAttr = "talc.directory";       // string: where #talc.file paths start
constexpr llvm::StringLiteral nameAttr = "talc.name";                 // string: the model's name, for messages
constexpr llvm::StringLiteral maxSequenceAttr = "talc.max_sequence";  // i64: tokens a sequence may have
constexpr llvm::StringLiteral generationAttr = "talc.generation";     // dictionary: begin, end, sampling defaults
// Attribute of the function that evaluates a step: (ids, sequences) -> logits.
constexpr llvm::StringLiteral entryAttr = "talc.entry";  // unit
// Attribute of every function once the phases are split; also the names of the two entry functions.
constexpr llvm::StringLiteral phaseAttr = "talc.phase";  // string, one of:
constexpr llvm::StringLiteral prefillPhase = "prefill";  // any number of tokens
constexpr llvm::StringLiteral decodePhase = "decode";    // one token
// Attribute of a module whose kernels are known: an array of dictionaries, for reports (mark-kernels).
constexpr llvm::StringLiteral kernelsAttr = "talc.kernels";
// Attribute of the last operation of an activation's formula: the activation's name, for reports.
constexpr llvm::StringLiteral activationAttr = "talc.activation";

}  // namespace talc
