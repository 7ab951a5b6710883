// SPDX-License-Identifier: Apache-2.0
// Kinds of results (talc.outputs) that are parts of the logits, for callers who ask for the log-probabilities of some
// words: behind the model's results come a head and its tails. A step for one token has none of them.
//
//   log p(word) = head(word), or head(its cluster) + tail(word)
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace talc {

constexpr llvm::StringLiteral headOutput = "head";  // for every word in no cluster, then for every cluster
constexpr llvm::StringLiteral tailOutput = "tail";  // for every word of the next cluster, among these

bool isLogitPart(mlir::Attribute kind);

// Of the results of a model's entry those that are no parts.
unsigned countResults(mlir::func::FuncOp entry);

// Removes the parts, and what is made for them alone, from an entry; talc.outputs stays.
void dropLogitParts(mlir::func::FuncOp entry);

}  // namespace talc
