// SPDX-License-Identifier: Apache-2.0
// verify-ir: runs the MLIR verifier.
//
// Passes of a stage do not verify after each other, which would take a tenth of the compile time. The canonicalizer is
// the first to see their results, and may crash or not terminate on an invalid program.
#include "compiler/passes/Passes.h"

#include "mlir/IR/Verifier.h"

namespace talc {
#define GEN_PASS_DEF_VERIFYIR
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;

namespace {

struct VerifyIr : talc::impl::VerifyIrBase<VerifyIr> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(verify(getOperation())))
      signalPassFailure();
  }
};

}  // namespace
