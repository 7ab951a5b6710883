// SPDX-License-Identifier: Apache-2.0
// check-dialects: reports operations that a stage should have converted, and invalid IR.
#include "compiler/passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

namespace talc {
#define GEN_PASS_DEF_CHECKDIALECTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;

namespace {

struct CheckDialects : talc::impl::CheckDialectsBase<CheckDialects> {
  using Base::Base;
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (llvm::is_contained(dialects, op->getName().getDialectNamespace()))
        return WalkResult::advance();
      op->emitOpError("is not allowed at the end of the stage");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted() || failed(verify(getOperation())))
      signalPassFailure();
  }
};

}  // namespace
