// SPDX-License-Identifier: Apache-2.0
// The table of contents of talc's passes, in the order in which compiler/Pipeline.cpp runs them.
#ifndef TALC_PASSES
#define TALC_PASSES

include "mlir/Pass/PassBase.td"

//===--- optimize: talc -> talc ----------------------------------------------------------------------------------===//

def MergeProjections : Pass<"merge-projections", "mlir::ModuleOp"> {
  let summary = "one linear for all projections of the same activations (q/k/v, gate/up)";
  let description = [{
      linear(x, a), linear(x, b)  ->  y = linear(x, concat(a, b)); slice(y at 0), slice(y at N_a)

    x is read once and the contraction gets wider; a missing bias becomes zeros when another one is present.
  }];
  let dependentDialects = ["talc::TalcDialect"];
}

#endif // TALC_PASSES
