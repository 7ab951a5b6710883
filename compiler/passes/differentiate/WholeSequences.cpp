// SPDX-License-Identifier: Apache-2.0
// whole-sequences: attention reads the keys and values of the step instead of a KV cache.
//
//   kv_append %cache, %k, %v; %K, %V = kv_read %cache   ->   %K, %V = %k, %v
//
// In training every sequence is complete in its step, so that a decoder is an encoder with a causal mask.
#include "compiler/passes/Passes.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace talc {
#define GEN_PASS_DEF_WHOLESEQUENCES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct WholeSequences : talc::impl::WholeSequencesBase<WholeSequences> {
  void runOnOperation() override {
    bool isComplete = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](KvReadOp read) { isComplete &= succeeded(replace(read)); });
    if (!isComplete)
      return signalPassFailure();
    getOperation().walk([](KvAppendOp append) { append.erase(); });
  }

  static LogicalResult replace(KvReadOp read) {
    for (Operation *user : read.getCache().getUsers())
      if (auto append = dyn_cast<KvAppendOp>(user);
          append && append->getBlock() == read->getBlock() && append->isBeforeInBlock(read)) {
        read.getKeys().replaceAllUsesWith(append.getKeys());
        read.getValues().replaceAllUsesWith(append.getValues());
        read.erase();
        return success();
      }
    return read.emitOpError("reads keys that the same step does not append; only decoders and encoders are trained");
  }
};

}  // namespace
