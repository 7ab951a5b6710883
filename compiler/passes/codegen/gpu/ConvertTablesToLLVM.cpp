// SPDX-License-Identifier: Apache-2.0
// convert-tables-to-llvm: converts what GPU kernels read of the running step to loads from StepTables.
//
//   %id = kernel.id %step[%t]          ->   %offset = load step[ids];  %id = load step[%offset + %t]     words of 32
//   bits %k = kernel.keys %step, %s[%slot]  ->   a memref around  %s + %slot * bytes per slot
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/StepReader.h"
#include "compiler/passes/codegen/gpu/StepTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_CONVERTTABLESTOLLVM
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

namespace {

class PointerReader final : public talc::StepReader, public talc::TableReader {
public:
  using StepReader::StepReader;

  Value count(Value step, int64_t field) override { return toIndex(word(step, field)); }

  Value element(Value step, int64_t array, Value at, int64_t size, int64_t field) override {
    Value begin = mul(word(step, array), constant(sizeof(int32_t)));
    Value offset = add(begin, add(mul(toI64(at), constant(size)), constant(field)));
    return toIndex(integerAt(cast(step, pointer()), offset));
  }

  Value statePart(MemRefType type, Value state, Value slot, int64_t offset) override {
    Value place = add(mul(toI64(slot), constant(slotBytes())), constant(offset));
    return buffer(type, bytesFrom(cast(state, pointer()), place));
  }

  Value byteBuffer(kernel::BytesOp op) override { return StepReader::byteBuffer(op); }

private:
  Value word(Value step, int64_t field) { return integerAt(cast(step, pointer()), constant(field)); }
};

struct ConvertTablesToLLVM : talc::impl::ConvertTablesToLLVMBase<ConvertTablesToLLVM> {
  // Types go last: while ops are converted, a state's type still tells its layout.
  void runOnOperation() override {
    int64_t count = 0;
    auto replace = [&](Operation *op) {
      PointerReader reader(op, getOperation());
      return talc::readTables(reader, op);
    };
    if (failed(talc::replaceStepOps(getOperation(), count, replace)))
      return signalPassFailure();
    talc::PassRemarks("codegen", "convert-tables-to-llvm").did(getOperation(), [&] {
      return llvm::formatv("{0} reads of the running step become loads from its tables", count);
    });
    convertSignatures();
  }

  // Steps and states in signatures become addresses.
  void convertSignatures() {
    auto convertType = [&](Type type) -> Type {
      return isa<kernel::StepType, talc::KvCacheType>(type) ? LLVM::LLVMPointerType::get(&getContext()) : type;
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Type> types = llvm::map_to_vector(function.getArgumentTypes(), convertType);
      if (!function.isExternal())
        for (auto [argument, type] : llvm::zip(function.getArguments(), types))
          argument.setType(type);
      function.setType(FunctionType::get(&getContext(), types, function.getResultTypes()));
    }
  }
};

}  // namespace
