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

// A trait: each row of the result depends only on the same row of the first operand.
template <typename ConcreteOp> struct KeepsRows : mlir::OpTrait::TraitBase<ConcreteOp, KeepsRows> {};

}  // namespace talc

#define GET_OP_CLASSES
#include "dialects/talc/TalcOps.h.inc"

namespace talc {

// Attributes of the module that holds a model.
constexpr llvm::StringLiteral directoryAttr = "talc.directory";       // string: the directory of #talc.file paths
constexpr llvm::StringLiteral nameAttr = "talc.name";                 // string: the model's name, for messages
constexpr llvm::StringLiteral maxSequenceAttr = "talc.max_sequence";  // i64: tokens a sequence may have
constexpr llvm::StringLiteral generationAttr = "talc.generation";     // dictionary: begin, end, sampling defaults
constexpr llvm::StringLiteral outputsAttr = "talc.outputs";           // strings: the kinds of the results (see below)
constexpr llvm::StringLiteral labelsAttr = "talc.labels";             // strings: names of the classes
// string: how the hidden states of a text become one vector: none, cls, mean, max, mean_sqrt_len_tokens, weightedmean,
// lasttoken; or dictionary: also what else sentence-transformers says of that vector, see EmbeddingSection.cpp.
constexpr llvm::StringLiteral poolingAttr = "talc.pooling";
// unit: sequences may be of any length, in segments of talc.max_sequence tokens. Positions are counted inside a
// segment, and of earlier segments there are only compressive memories. A step has tokens of one segment of each
// sequence.
constexpr llvm::StringLiteral segmentedAttr = "talc.segmented";
// i64: the greatest possible value of talc.max_sequence (--max-seq); by default the present one.
constexpr llvm::StringLiteral longestSequenceAttr = "talc.longest_sequence";
// Attribute of a function that evaluates a step: (ids, sequences) -> results, with a row for every wanted token. A
// model has one with results; an encoder-decoder also has one without, which stores the source in KV caches.
constexpr llvm::StringLiteral entryAttr = "talc.entry";  // unit
// Kinds of results (talc.outputs; by default logits).
constexpr llvm::StringLiteral logitsOutput = "logits";  // for every token of the vocabulary
constexpr llvm::StringLiteral hiddenOutput = "hidden";  // the token's hidden state
constexpr llvm::StringLiteral classesOutput =
    "classes";  // for every class, of the token that stands for the sequence (class_place in talc.generation)
constexpr llvm::StringLiteral tokenClassesOutput = "token_classes";  // for every class, of every token
// Attribute of every function after split-entries; the values are also the names of the entry functions.
constexpr llvm::StringLiteral entryNameAttr = "talc.entry_name";  // string, one of:
constexpr llvm::StringLiteral encodeEntry = "encode";             // complete sequences
constexpr llvm::StringLiteral prefillEntry = "prefill";           // any number of tokens, after those of earlier steps
constexpr llvm::StringLiteral decodeEntry = "decode";             // one token
// Attribute of a module in stage lower and after: a dictionary, see compiler/passes/lower/TalcToKernel.h.
constexpr llvm::StringLiteral interfaceAttr = "talc.interface";
// The memory plan (plan-memory): a dictionary of sizes in bytes on the module, and the attribute of a weight or KV
// cache.
constexpr llvm::StringLiteral planAttr = "talc.plan";
constexpr llvm::StringLiteral slotBytesKey = "state_bytes_per_slot";  // of all KV caches of one sequence
constexpr llvm::StringLiteral offsetAttr = "offset";
// Attribute of a module: an array with a dictionary for each call of a kernel, for reports (mark-kernels).
constexpr llvm::StringLiteral kernelsAttr = "talc.kernels";
// Attribute of the last operation of an activation's formula: the activation's name, for reports.
constexpr llvm::StringLiteral activationAttr = "talc.activation";

}  // namespace talc
