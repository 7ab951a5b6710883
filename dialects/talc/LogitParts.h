// SPDX-License-Identifier: Apache-2.0
// Kinds of results (talc.outputs) that are parts of the logits, for callers who want the log-probabilities of some
// words: the results of the model are followed by a head and its tails. A step for one token does not have them.
//
//   log p(word) = head(word), or head(its cluster) + tail(word)
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace talc {

constexpr llvm::StringLiteral headOutput = "head";  // for every word that is not in a cluster, then for every cluster
constexpr llvm::StringLiteral tailOutput = "tail";  // for every word of the next cluster, within the cluster

bool isLogitPart(mlir::Attribute kind);

// The number of results of an entry that are not parts.
unsigned countResults(mlir::func::FuncOp entry);

// Removes the parts, and code that computes only them, from an entry; talc.outputs stays.
void dropLogitParts(mlir::func::FuncOp entry);

}  // namespace talc
