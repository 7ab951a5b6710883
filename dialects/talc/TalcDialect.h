// SPDX-License-Identifier: Apache-2.0
// C++ classes of the talc dialect; the definitions with their documentation are in TalcDialect.td and TalcOps.td.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/talc/KvLayout.h.inc"
#include "dialects/talc/TalcDialect.h.inc"
#include "dialects/talc/TalcEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/talc/TalcTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/talc/TalcAttributes.h.inc"

namespace talc {

// A trait: each row of the result follows from the same row of the first operand.
template <typename ConcreteOp> struct KeepsRows : mlir::OpTrait::TraitBase<ConcreteOp, KeepsRows> {};

}  // namespace talc

#define GET_OP_CLASSES
#include "dialects/talc/TalcOps.h.inc"

namespace talc {

// Attributes of the module that holds a model.
constexpr llvm::StringLiteral directoryAttr = "talc.directory";       // string: where #talc.file paths start
constexpr llvm::StringLiteral nameAttr = "talc.name";                 // string: the model's name, for messages
constexpr llvm::StringLiteral maxSequenceAttr = "talc.max_sequence";  // i64: tokens a sequence may have
constexpr llvm::StringLiteral generationAttr = "talc.generation";     // dictionary: begin, end, sampling defaults
constexpr llvm::StringLiteral outputsAttr = "talc.outputs";           // strings: what the results are (see below)
constexpr llvm::StringLiteral labelsAttr = "talc.labels";             // strings: names of the classes
constexpr llvm::StringLiteral poolingAttr = "talc.pooling";           // string: cls, mean or none; of hidden states
// unit: a text goes on without end, in segments of talc.max_sequence tokens. Positions are counted inside the segment,
// and of the tokens before it states keep only what their role says. A step has rows of one segment of each sequence.
constexpr llvm::StringLiteral segmentedAttr = "talc.segmented";
// i64: what the longest sequence could be (--max-seq); a module that does not say has it already.
constexpr llvm::StringLiteral longestSequenceAttr = "talc.longest_sequence";
// Attribute of a function that evaluates a step: (ids, sequences) -> results, one row for every row that is wanted. A
// model has one with results; an encoder-decoder also has one without, which leaves the source in states.
constexpr llvm::StringLiteral entryAttr = "talc.entry";  // unit
// What a result is (talc.outputs; logits if the module does not say).
constexpr llvm::StringLiteral logitsOutput = "logits";               // for every token of the vocabulary
constexpr llvm::StringLiteral hiddenOutput = "hidden";               // the token's hidden state
constexpr llvm::StringLiteral classesOutput = "classes";             // for every class, of the first token: the text
constexpr llvm::StringLiteral tokenClassesOutput = "token_classes";  // for every class, of every token
// Attribute of every function once the phases are split; also the names of the two entry functions.
constexpr llvm::StringLiteral entryNameAttr = "talc.entry_name";  // string, one of:
constexpr llvm::StringLiteral encodeEntry = "encode";             // whole sequences
constexpr llvm::StringLiteral prefillEntry = "prefill";           // any number of tokens that follow others
constexpr llvm::StringLiteral decodeEntry = "decode";             // one of them
// Attribute of a module in stage lower and after: a dictionary, see compiler/passes/lower/ModelInterface.h.
constexpr llvm::StringLiteral interfaceAttr = "talc.interface";
// Memory that is planned (plan-memory): a dictionary of the module's sizes in bytes, and the place of a weight or
// state.
constexpr llvm::StringLiteral planAttr = "talc.plan";
constexpr llvm::StringLiteral slotBytesKey = "state_bytes_per_slot";  // of all states of one sequence
constexpr llvm::StringLiteral offsetAttr = "talc.offset";             // i64, bytes
// Attribute of a module whose kernels are known: an array of dictionaries, for reports (mark-kernels).
constexpr llvm::StringLiteral kernelsAttr = "talc.kernels";
// Attribute of the last operation of an activation's formula: the activation's name, for reports.
constexpr llvm::StringLiteral activationAttr = "talc.activation";

}  // namespace talc
