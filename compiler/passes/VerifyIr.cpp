// SPDX-License-Identifier: Apache-2.0
// verify: fails if the program is not valid.
//
// Between the passes of a stage nothing verifies, which would take a tenth of a compilation. The canonicalizer is the
// first to meet what they left, and an invalid program may crash it, or keep it busy for ever.
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
